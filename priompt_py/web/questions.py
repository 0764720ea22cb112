"""Questions of running programs: of this one's hub, and of others that have brought theirs here."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import attrs

from priompt_py.errors import RunError
from priompt_py.preview.json_kinds import is_object
from priompt_py.runtime.live import Hub, Question
from priompt_py.runtime.live_link import told_of
from priompt_py.web.answers import Refusal, number
from priompt_py.web.feeding import output_of
from priompt_py.web.looks import PROVIDERS, request_of
from priompt_py.web.rows import bits_of, columns

__all__ = ["Desk", "drawn"]

FORGOTTEN = 6.0
"""Seconds after which a question is dropped whose program no longer asks for its answer, which it does every 2."""

MOST_QUESTIONS = 200
"""Of other programs, at a time."""

_MOST_ROWS = 200_000
_TEXTS = ("text", "br", "hr", "omitted")


@attrs.define(eq=False)
class Visiting:
    """A question of another program. ``told`` is what that says of it; ``answer`` comes when it is there."""

    number: str
    told: Mapping[str, Any]
    seen: float  # when its program asked last, by this process's clock
    answer: Mapping[str, Any] | None = None
    polls: int = 0
    settled: asyncio.Event = attrs.field(factory=asyncio.Event)


class Desk:
    """What waits for an answer, in the order in which it was asked. ``changed`` is called after each change, from any
    thread."""

    def __init__(self, hub: Hub, changed: Callable[[], None]) -> None:
        self._hub = hub
        self._changed = changed
        self._visiting: dict[str, Visiting] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._end_watch = hub.watch(changed)

    def stop(self) -> None:
        """Show the hub's questions no more."""
        self._end_watch()

    # -- for the page -------------------------------------------------------------------------

    def questions(self) -> list[dict[str, Any]]:
        """What waits, the oldest first."""
        self._forget()
        own = [(one.asked_at.timestamp(), _summary_of_own(one)) for one in self._hub.questions()]
        with self._lock:
            visiting = [one for one in self._visiting.values() if one.answer is None]
        others = [(_time(one.told["asked_at"]), _summary(one)) for one in visiting]
        return [told for _, told in sorted([*own, *others], key=_when)]

    async def question(self, name: str) -> dict[str, Any]:
        """One of them, to be drawn. Raises Refusal."""
        own = self._own(name)
        if own is not None:
            told = await asyncio.to_thread(told_of, own)
            return {"question": _summary_of_own(own), **drawn(told)}
        visiting = self._other(name)
        return {"question": _summary(visiting), **drawn(visiting.told)}

    async def request(self, name: str, provider: str) -> dict[str, Any]:
        """What would be sent to a provider. Raises Refusal and ProviderError."""
        own = self._own(name)
        if own is not None:
            return await asyncio.to_thread(request_of, own.rendered, provider)
        requests: Any = self._other(name).told["requests"]
        found: Any = requests.get(provider)
        if provider not in PROVIDERS or not is_object(found):
            raise Refusal(404, "unknown", f"its program sent no request for {provider!r}")
        if "error" in found:
            raise Refusal(422, "prompt", str(found["error"]))
        text = str(found.get("text", ""))
        try:
            request = text if provider == "text" else json.loads(text)
        except (ValueError, RecursionError):
            request = text
        return {"provider": provider, "request": request, "text": text}

    def answer(self, name: str, answer: Any) -> None:
        """Answer a question. Raises Refusal where it waits no more."""
        output = output_of(answer)
        if self._own(name) is not None:
            self._settle_own(lambda: self._hub.answer(name, output))
            return
        calls = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in output.tool_calls
        ]
        self._settle(
            name,
            {
                "state": "answered",
                "answer": {
                    "text": output.text,
                    "reasoning": output.reasoning,
                    "tool_calls": calls,
                    "finish_reason": output.finish_reason,
                },
            },
        )

    def refuse(self, name: str, reason: str) -> None:
        """Give a question back. Raises Refusal where it waits no more."""
        if self._own(name) is not None:
            self._settle_own(lambda: self._hub.refuse(name, reason))
        else:
            self._settle(name, {"state": "refused", "reason": reason})

    # -- for programs -------------------------------------------------------------------------

    def bring(self, key: str, told: Mapping[str, Any]) -> None:
        """Take a question of another program; ``key`` is its own name for it. Raises Refusal."""
        _check(told)
        self._forget()
        now = time.monotonic()
        with self._lock:
            if len(self._visiting) >= MOST_QUESTIONS:
                raise Refusal(503, "busy", f"{MOST_QUESTIONS} questions wait already")
            self._visiting[key] = Visiting(f"p{next(self._numbers)}", told, seen=now)
        self._look_later()
        self._changed()

    async def wait(self, key: str, seconds: float) -> dict[str, Any]:
        """The answer of a question that was brought, as soon as it is there, else ``waiting``. Raises Refusal."""
        with self._lock:
            visiting = self._visiting.get(key)
        if visiting is None:
            raise Refusal(404, "unknown", "this server knows no such question (any more)")
        visiting.polls += 1
        try:
            async with asyncio.timeout(seconds):
                await visiting.settled.wait()
        except TimeoutError:
            pass
        finally:
            visiting.polls -= 1
            visiting.seen = time.monotonic()
            self._look_later()
        return {"state": "waiting"} if visiting.answer is None else dict(visiting.answer)

    def take_back(self, key: str) -> None:
        """Forget a question that was brought."""
        with self._lock:
            found = self._visiting.pop(key, None)
        if found is not None and found.answer is None:
            self._changed()

    # -- steps --------------------------------------------------------------------------------

    def _own(self, name: str) -> Question | None:
        return next((one for one in self._hub.questions() if one.id == name), None)

    def _other(self, name: str) -> Visiting:
        with self._lock:
            for one in self._visiting.values():
                if one.number == name and one.answer is None:
                    return one
        raise Refusal(
            409, "answered", "this question waits no more: it is answered, or its program has gone on"
        )

    def _settle(self, name: str, answer: Mapping[str, Any]) -> None:
        found = self._other(name)
        with self._lock:
            if found.answer is None:
                found.answer = answer
        found.settled.set()
        self._changed()

    @staticmethod
    def _settle_own(settle: Callable[[], None]) -> None:
        try:
            settle()
        except RunError as error:
            raise Refusal(409, "answered", str(error)) from None

    def _look_later(self) -> None:
        """See whether programs have gone, when those that are here have had time to ask again."""
        asyncio.get_running_loop().call_later(FORGOTTEN + 0.1, self._forget)

    def _forget(self) -> None:
        """Drop the questions of programs that are gone."""
        now = time.monotonic()
        with self._lock:
            gone = [
                key for key, one in self._visiting.items() if not one.polls and now - one.seen > FORGOTTEN
            ]
            for key in gone:
                del self._visiting[key]
        if gone:
            self._changed()


def _when(one: tuple[float, Any]) -> float:
    return one[0]


def _time(text: Any) -> float:
    return datetime.fromisoformat(text).timestamp()


def _summary_of_own(question: Question) -> dict[str, Any]:
    rendered = question.rendered
    return {
        "id": question.id,
        "name": question.name,
        "asked_at": question.asked_at.isoformat(),
        "program": None,
        "token_limit": rendered.token_limit,
        "tokens_used": rendered.token_count,
        "tokens_reserved": rendered.tokens_reserved,
    }


def _summary(visiting: Visiting) -> dict[str, Any]:
    told, report = visiting.told, visiting.told["report"]
    return {
        "id": visiting.number,
        "name": told["name"],
        "asked_at": told["asked_at"],
        "program": told["program"],
        "token_limit": report["token_limit"],
        "tokens_used": report["tokens_used"],
        "tokens_reserved": report["tokens_reserved"],
    }


# ------------------------------------------------------------------------------------------ what programs send

_REPORT: dict[str, type | tuple[type, ...]] = {
    "is_chat": bool,
    "messages": list,
    "token_limit": int,
    "tokens_used": int,
    "tokens_reserved": int,
    "tokens_free": int,
    "cutoff": (int, float),
    "level": int,
    "levels": int,
    "count_kind": str,
    "elements_in": int,
    "elements_out": int,
    "largest": list,
    "other_tokens": int,
    "shared_tokens": int,
}
_PIECE: dict[str, type | tuple[type, ...]] = {
    "kind": str,
    "text": str,
    "included": bool,
    "path": str,
    "label": (str, type(None)),
    "priority": (int, float),
    "characters": int,
    "tokens": int,
    "reason": str,
}
_MESSAGE: dict[str, type | tuple[type, ...]] = {
    "role": (str, type(None)),
    "name": (str, type(None)),
    "to": (str, type(None)),
    "included": bool,
    "path": str,
    "label": (str, type(None)),
    "priority": (int, float),
    "frame_tokens": int,
    "tokens": int,
    "pieces": list,
    "reason": str,
}
_LARGEST: dict[str, type | tuple[type, ...]] = {
    "path": str,
    "label": (str, type(None)),
    "priority": (int, float),
    "tokens": int,
}


def _check(told: Mapping[str, Any]) -> None:
    """Whether another program's question has what is drawn of it. Raises Refusal."""
    report: Any = told["report"]
    _check_fields(report, _REPORT, "report")
    rows = 0
    for message in report["messages"]:
        _check_fields(message, _MESSAGE, "a message of the report")
        rows += 1 + len(message["pieces"])
        for piece in message["pieces"]:
            _check_fields(piece, _PIECE, "a piece of the report")
    for part in report["largest"]:
        _check_fields(part, _LARGEST, "a part of the report")
    if rows > _MOST_ROWS:
        raise Refusal(413, "large", f"a question has at most {_MOST_ROWS:,} parts, this one {rows:,}")
    if not is_object(told["requests"]):
        raise Refusal(400, "malformed", "requests have to be an object")
    try:
        _time(told["asked_at"])
    except (TypeError, ValueError):
        raise Refusal(400, "malformed", "asked_at has to be a time in ISO 8601") from None


def _check_fields(value: Any, fields: Mapping[str, type | tuple[type, ...]], what: str) -> None:
    if not is_object(value):
        raise Refusal(400, "malformed", f"{what} has to be an object")
    for name, kind in fields.items():
        if not isinstance(value.get(name), kind):
            raise Refusal(400, "malformed", f"{name} of {what} is missing or of a wrong type")


# ------------------------------------------------------------------------------------------ drawing


def drawn(told: Mapping[str, Any]) -> dict[str, Any]:
    """A question as a page draws it: rows as of a view, at the one limit that it was rendered under."""
    report: Any = told["report"]
    rows: list[Any] = []
    flags: list[bool] = []
    details: dict[int, dict[str, Any]] = {}
    characters: dict[str, int] = {}
    for message in report["messages"]:
        parent = -1
        if message["role"] is not None:
            parent = len(rows)
            rows.append(_row("message", -1, message, None))
            flags.append(message["included"])
            told_of_it = {
                name: message[name] for name in ("role", "name", "to", "frame_tokens", "tokens", "path")
            }
            details[parent] = {**told_of_it, "reason": message["reason"]}
        for piece in message["pieces"]:
            n = len(rows)
            is_text = piece["kind"] in _TEXTS
            rows.append(_row(piece["kind"], parent, piece, piece["text"] if is_text else None))
            flags.append(piece["included"])
            details[n] = {"tokens": piece["tokens"], "path": piece["path"], "reason": piece["reason"]}
            if not is_text:
                details[n]["told"] = piece["text"]
            if piece["characters"] > len(piece["text"]):
                characters[str(n)] = piece["characters"]
    elements = columns(rows, details)
    elements["cut"] = {**elements["cut"], **characters}
    cutoff: Any = report["cutoff"]
    return {
        "props": told["props"],
        "is_chat": report["is_chat"],
        "count_kind": report["count_kind"],
        "elements": elements,
        "position": {
            "limit": report["token_limit"],
            "level": report["level"] - 1,
            "levels": report["levels"],
            "cutoff": number(cutoff),
            "fits": True,
            "required": None,
            "used": report["tokens_used"],
            "reserved": report["tokens_reserved"],
            "free": report["tokens_free"],
            "bits": bits_of(flags)[0],
            "elements_in": report["elements_in"],
            "elements_out": report["elements_out"],
        },
        "largest": [
            {
                "row": -1,
                **{name: part[name] for name in ("path", "label", "tokens")},
                "priority": number(part["priority"]),
            }
            for part in report["largest"]
        ],
        "other_tokens": report["other_tokens"],
        "shared_tokens": report["shared_tokens"],
    }


def _row(kind: str, parent: int, told: Mapping[str, Any], text: str | None) -> Any:
    segment = str(told["path"]).rpartition(" > ")[2]
    priority = number(told["priority"])
    return (kind, parent, segment, told["label"], priority, priority, text)
