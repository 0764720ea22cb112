"""Takes the questions of this program to a preview that runs in another process, and brings the answers back.

It works in threads of its own: the program's event loop may be busy, and goes on without it. Without a server
it looks for one until there are no more questions, so that either may be started first.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priompt_py.errors import ProviderError, RunError
from priompt_py.model.model_output import ModelOutput, ToolCall
from priompt_py.runtime.announcements import VARIABLE, Announcement, find_server

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered
    from priompt_py.runtime.live import Hub, Question

__all__ = ["LiveLink", "answer_from", "told_of"]

_LOOK = 0.3  # seconds between two looks for questions and servers
_PATIENCE = 1.5  # seconds without anybody who shows a question until that is told
_ASK = 2.0  # seconds that the server may keep a question for an answer before the program looks for itself
_AVOID = 10.0  # seconds for which other servers go before one that took no question
_TIMEOUT = 10.0  # seconds for one request

_log = logging.getLogger("priompt_py.runtime.live")


class LiveLink:
    """The link of one hub. ``ensure`` is called whenever something is asked."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._carried: dict[str, threading.Thread] = {}
        self._has_told = False
        self._silent: dict[str, float] = {}  # addresses that took no question, and when

    def ensure(self) -> None:
        """Work as long as there are questions."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # not in a forked process
                self._thread = threading.Thread(target=self._work, name="priompt_py live", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        """Start a thread for each question that somebody could show."""
        alone_since: float | None = None
        empty = 0
        while True:
            waiting = self._hub.questions()
            with self._lock:
                empty = 0 if waiting else empty + 1
                if empty > 3:  # who asks puts its question up right after `ensure`
                    self._thread = None
                    return
            open_ones = [one for one in waiting if one.id not in self._carried]
            server = self._found() if open_ones and not self._hub.is_watched else None
            if server is not None:
                for question in open_ones:
                    thread = threading.Thread(
                        target=self._carry, args=(question, server), name="priompt_py question", daemon=True
                    )
                    self._carried[question.id] = thread
                    thread.start()
            if not open_ones or server is not None or self._hub.is_watched:
                alone_since = None
            elif alone_since is None:
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > _PATIENCE:
                self._tell()
            time.sleep(_LOOK)

    def _found(self) -> Announcement | None:
        try:
            now = time.monotonic()
            return find_server(after=[url for url, when in self._silent.items() if now - when < _AVOID])
        except RunError as error:
            self._tell(str(error))
            return None

    def _tell(self, why: str | None = None) -> None:
        if not self._has_told:
            self._has_told = True
            _log.warning(
                "live() waits for an answer, and nobody shows its question: %s",
                why or "start `priompt serve`, or serve preview_app() from this program",
            )

    def _carry(self, question: Question, server: Announcement) -> None:
        """Take one question to a server, and wait there until it is answered, or waits no more."""
        name = uuid.uuid4().hex
        is_there = False
        try:
            _send(server, "POST", "/api/live", {"id": name, **told_of(question)})
            is_there = True
            while self._waits(question):
                given = _send(server, "GET", f"/api/live/{name}?wait={_ASK:g}", None)
                if given["state"] == "answered":
                    self._hub.answer(question.id, answer_from(given["answer"]))
                elif given["state"] == "refused":
                    self._hub.refuse(question.id, given["reason"])
            _send(server, "DELETE", f"/api/live/{name}", None)
        except (OSError, HTTPException, ValueError, KeyError, RunError) as error:
            # It is told once, and tried again: the server may come back.
            _log.debug("a question could not be shown: %s", error)
            if not is_there:
                self._silent[server.url] = time.monotonic()
                self._tell(
                    str(error) if isinstance(error, RunError) else f"{server.url} can't be asked: {error}"
                )
            if self._waits(question):
                time.sleep(_PATIENCE)
        finally:
            self._carried.pop(question.id, None)

    def _waits(self, question: Question) -> bool:
        return any(one is question for one in self._hub.questions())


def told_of(question: Question) -> dict[str, Any]:
    """What a server needs to show a question, as JSON."""
    rendered = question.rendered
    return {
        "name": question.name,
        "props": _props(question),
        "asked_at": question.asked_at.isoformat(),
        "program": f"{Path(sys.argv[0]).name or 'python'}, process {os.getpid()}",
        "report": rendered.report.to_json(),
        "requests": _requests(rendered),
    }


def _props(question: Question) -> Any:
    """The props as JSON; what is none stands as its repr."""

    def shown(value: Any) -> str:
        return repr(value)[:2_000]

    try:
        return json.loads(json.dumps(dict(question.props), default=shown, allow_nan=False, skipkeys=True))
    except (ValueError, RecursionError):
        return None


def _requests(rendered: Rendered) -> dict[str, Any]:
    """What would be sent to each provider, as JSON text; of one that can't hold the prompt, why."""
    found: dict[str, Any] = {}
    makers: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("openai", rendered.to_openai),
        ("openai-responses", rendered.to_openai_responses),
        ("anthropic", lambda: rendered.to_anthropic(max_tokens=max(1, rendered.tokens_remaining))),
        ("messages", rendered.to_messages),
        ("text", rendered.to_text),
    )
    for name, make in makers:
        try:
            request: Any = make()
            text = request if name == "text" else json.dumps(request, ensure_ascii=False, indent=2)
            found[name] = {"text": text}
        except ProviderError as error:
            found[name] = {"error": str(error)}
    return found


def answer_from(given: Any) -> ModelOutput:
    """An answer as the server sends it: text, reasoning, calls and a reason. Raises ValueError or KeyError."""
    calls = [
        ToolCall(call.get("id"), str(call["name"]), str(call["arguments"])) for call in given["tool_calls"]
    ]
    return ModelOutput(
        text=str(given["text"]),
        reasoning=given.get("reasoning"),
        tool_calls=tuple(calls),
        finish_reason=given.get("finish_reason"),
        raw=given,
    )


def _send(server: Announcement, method: str, path: str, data: Any) -> Any:
    """One request to a server, and its answer. Raises OSError, HTTPException and RunError."""
    host, port, root = server.place
    connection = HTTPConnection(host, port, timeout=_TIMEOUT)
    with contextlib.closing(connection):
        body = None if data is None else json.dumps(data).encode()
        headers = {"X-Priompt-Token": server.token}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, root + path, body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 401:
            raise RunError(f"{server.url} has another token: each start of `priompt serve` has a new one")
        if answer.status != 200:
            raise RunError(
                f"the server of {VARIABLE} or `priompt serve` answered {answer.status}: {text[:200]!r}"
            )
        return json.loads(text)
