"""What the page asks for: each request checked, made a job, and answered."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from priompt_py.errors import PromptError
from priompt_py.web.answers import Answer, Refusal, failure, json_bytes
from priompt_py.web.events import Events, event
from priompt_py.web.looks import PROVIDERS
from priompt_py.web.questions import Desk
from priompt_py.web.requests import Fields, object_of, query_of
from priompt_py.web.workers import Pool

__all__ = ["Api"]

MOST_SPECS = 500
"""Views whose specs are kept; who comes back to an older one opens it again."""

MOST_SPEC_BYTES = 200 * 1024 * 1024
"""Of all these specs, as JSON."""

_VIEW = re.compile(r"v[0-9a-f]{32}")
_KEY = re.compile(r"[0-9a-f]{32}")
_LONGEST_WAIT = 20.0  # seconds that a program may wait in one request

Handler = Callable[[Request], Awaitable[Answer]]


class Api:
    """The routes below ``api/``, and what they have in common."""

    def __init__(
        self, pool: Pool, desk: Desk, events: Events, *, mode: Literal["serve", "app"], timeout: float
    ) -> None:
        self._pool = pool
        self._desk = desk
        self._events = events
        self._mode = mode
        self._timeout = timeout
        self._started = time.time()
        self._specs: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def routes(self) -> list[Route]:
        """All of them."""
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/session", self._session),
            ("GET", "/prompts", self._prompts),
            ("GET", "/props", self._props),
            ("POST", "/open", self._open),
            ("GET", "/views/{view}/at", self._look("at", "seq")),
            ("GET", "/views/{view}/curve", self._look("curve")),
            ("GET", "/views/{view}/report", self._look("report")),
            ("GET", "/views/{view}/element", self._look("element", "row")),
            ("GET", "/views/{view}/text", self._text),
            ("GET", "/views/{view}/tokens", self._look("tokens")),
            ("GET", "/views/{view}/request", self._look("request", "provider")),
            ("POST", "/views/{view}/feed", self._feed),
            ("POST", "/compare", self._compare),
            ("POST", "/cancel", self._cancel),
            ("GET", "/questions", self._questions),
            ("GET", "/questions/{name}", self._question),
            ("GET", "/questions/{name}/request", self._question_request),
            ("POST", "/questions/{name}/answer", self._answer),
            ("POST", "/questions/{name}/refuse", self._refuse),
            ("POST", "/live", self._bring),
            ("GET", "/live/{key}", self._wait),
            ("DELETE", "/live/{key}", self._take_back),
        ]
        routes = [
            Route(f"/api{path}", _answering(handler), methods=[method]) for method, path, handler in table
        ]
        return [*routes, Route("/api/events", self._listen, methods=["GET"])]

    # -- prompts ------------------------------------------------------------------------------

    async def _session(self, request: Request) -> Answer:
        from importlib.metadata import version

        from priompt_py.tokens.tokenizer import list_tokenizers

        query_of(request).end()
        return 200, json_bytes(
            {
                "version": version("priompt-py"),
                "mode": self._mode,
                "default_timeout": self._timeout,
                "providers": PROVIDERS,
                "tokenizers": list(list_tokenizers()),
            }
        )

    async def _prompts(self, request: Request) -> Answer:
        query_of(request).end()
        return await self._pool.do({"op": "prompts"}, {}, prompt=None)

    async def _props(self, request: Request) -> Answer:
        fields = query_of(request)
        job = {"op": "props", "prompt": fields.text("prompt"), "name": fields.text("name")}
        fields.end()
        return await self._pool.do(job, {}, prompt=job["prompt"])

    async def _open(self, request: Request) -> Answer:
        fields = await object_of(request)
        spec = {
            "prompt": fields.text("prompt"),
            "example": fields.text("example", default=None),
            "props": fields.take("props", dict, "an object", default=None),
            "tokenizer": fields.text("tokenizer", default=None),
            "model": fields.text("model", default=None),
        }
        limit = fields.count("limit", default=None)
        fields.end()
        text = json.dumps(spec, sort_keys=True)
        view = f"v{hashlib.sha256(text.encode()).hexdigest()[:32]}"
        self._keep(view, spec, len(text))
        job = {"op": "open", "view": view, "specs": {view: spec}, "limit": limit}
        return await self._pool.do(job, {view: spec}, prompt=spec["prompt"])

    # -- views --------------------------------------------------------------------------------

    def _keep(self, view: str, spec: dict[str, Any], size: int) -> None:
        """Remember a view's spec, and forget the oldest that are too many."""
        self._specs[view] = spec
        self._sizes[view] = size
        self._specs.move_to_end(view)
        while len(self._specs) > MOST_SPECS or sum(self._sizes.values()) > MOST_SPEC_BYTES:
            oldest, _ = self._specs.popitem(last=False)
            del self._sizes[oldest]

    def _spec(self, view: str) -> dict[str, Any]:
        """The spec of a view. Raises Refusal."""
        spec = self._specs.get(view)
        if not _VIEW.fullmatch(view) or spec is None:
            raise Refusal(410, "gone", "this view is here no more: open its prompt again")
        self._specs.move_to_end(view)
        return spec

    async def _job(self, view: str, job: Mapping[str, Any], *, longer: float = 0.0) -> Answer:
        spec = self._spec(view)
        return await self._pool.do({**job, "view": view}, {view: spec}, prompt=spec["prompt"], longer=longer)

    def _look(self, op: str, *more: str) -> Handler:
        """A handler of what is asked of a view under a limit."""

        async def look(request: Request) -> Answer:
            fields = query_of(request)
            job: dict[str, Any] = {"op": op}
            for name in more:
                if name == "provider":
                    job[name] = fields.text(name)
                else:
                    job[name] = fields.count(name, default=None) if name == "seq" else fields.count(name)
            if op == "curve":  # it may hold for all limits
                job["limit"] = fields.count("limit", default=1 << 40)
            else:
                job |= fields.spot()
            fields.end()
            return await self._job(request.path_params["view"], job)

        return look

    async def _text(self, request: Request) -> Answer:
        fields = query_of(request)
        row = fields.count("row")
        fields.end()
        return await self._job(request.path_params["view"], {"op": "text", "row": row})

    async def _feed(self, request: Request) -> Answer:
        fields = await object_of(request)
        pause = float(min(max(fields.take("pause", (int, float), "seconds", default=0.0), 0.0), 1.0))
        job: dict[str, Any] = {
            "op": "feed",
            **fields.spot(),
            "answer": fields.take("answer", (str, dict), "text or an object"),
            "stream": fields.take("stream", bool, "true or false", default=False),
            "pause": pause,
        }
        fields.end()
        longer = 120 * pause if job["stream"] else 0.0  # a person watches the pieces come
        return await self._job(request.path_params["view"], job, longer=longer)

    async def _compare(self, request: Request) -> Answer:
        fields = await object_of(request)
        job: dict[str, Any] = {"op": "compare"}
        specs: dict[str, Any] = {}
        prompt = ""
        for side in ("a", "b"):
            given = Fields(fields.take(side, dict, "an object with view and limit"))
            view = given.text("view")
            job[side] = {"view": view, **given.spot()}
            given.end()
            specs[view] = self._spec(view)
            prompt = specs[view]["prompt"]
        fields.end()
        return await self._pool.do(job, specs, prompt=prompt)

    async def _cancel(self, request: Request) -> Answer:
        fields = await object_of(request)
        view, prompt = fields.text("view", default=None), fields.text("prompt", default=None)
        fields.end()
        if (view is None) == (prompt is None):
            raise Refusal(400, "malformed", "give one of view and prompt")
        wanted = prompt if view is None else self._spec(view)["prompt"]
        return 200, json_bytes({"cancelled": await self._pool.cancel(wanted)})

    # -- questions ----------------------------------------------------------------------------

    async def _questions(self, request: Request) -> Answer:
        query_of(request).end()
        return 200, json_bytes({"questions": self._desk.questions()})

    async def _question(self, request: Request) -> Answer:
        query_of(request).end()
        return 200, json_bytes(await self._desk.question(request.path_params["name"]))

    async def _question_request(self, request: Request) -> Answer:
        fields = query_of(request)
        provider = fields.text("provider")
        fields.end()
        return 200, json_bytes(await self._desk.request(request.path_params["name"], provider))

    async def _answer(self, request: Request) -> Answer:
        fields = await object_of(request)
        answer = fields.take("answer", (str, dict), "text or an object")
        fields.end()
        self._desk.answer(request.path_params["name"], answer)
        return 200, json_bytes({"answered": True})

    async def _refuse(self, request: Request) -> Answer:
        fields = await object_of(request)
        reason = fields.text("reason", default="nobody wants to answer it")
        fields.end()
        self._desk.refuse(request.path_params["name"], reason)
        return 200, json_bytes({"refused": True})

    # -- programs that ask --------------------------------------------------------------------

    async def _bring(self, request: Request) -> Answer:
        fields = await object_of(request)
        key = fields.text("id")
        told = {
            "name": fields.text("name"),
            "props": fields.take("props", (dict, list), "an object", default=None),
            "asked_at": fields.text("asked_at"),
            "program": fields.text("program"),
            "report": fields.take("report", dict, "an object"),
            "requests": fields.take("requests", dict, "an object"),
        }
        fields.end()
        if not _KEY.fullmatch(key):
            raise Refusal(400, "malformed", "id has to be 32 figures, base 16")
        self._desk.bring(key, told)
        return 200, json_bytes({"waiting": True})

    async def _wait(self, request: Request) -> Answer:
        fields = query_of(request)
        seconds = fields.count("wait", default=int(_LONGEST_WAIT))
        fields.end()
        found = await self._desk.wait(request.path_params["key"], min(float(seconds), _LONGEST_WAIT))
        return 200, json_bytes(found)

    async def _take_back(self, request: Request) -> Answer:
        query_of(request).end()
        self._desk.take_back(request.path_params["key"])
        return 200, json_bytes({"taken_back": True})

    # -- news ---------------------------------------------------------------------------------

    async def _listen(self, request: Request) -> Response:
        try:
            query_of(request).end()
            self._events.check_room()
        except Refusal as refusal:
            return _response(refusal.answer())
        from importlib.metadata import version

        first = (
            event("hello", {"version": version("priompt-py"), "started": self._started}),
            event("questions", {"questions": self._desk.questions()}),
        )
        return StreamingResponse(
            self._events.stream(*first), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    def tell_questions(self) -> None:
        """Send all pages what waits."""
        self._events.tell("questions", {"questions": self._desk.questions()})


def _answering(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint of Starlette: refusals and our own errors are answers."""

    async def answer(request: Request) -> Response:
        try:
            return _response(await handler(request))
        except Refusal as refusal:
            return _response(refusal.answer())
        except PromptError as error:
            return _response(failure(error))
        except RecursionError:  # JSON that can just be read may be too deep to be written
            return _response(Refusal(400, "malformed", "not JSON: nested too deeply").answer())

    return answer


def _response(answer: Answer) -> Response:
    status, body = answer
    return Response(body, status, media_type="application/json", headers={"Cache-Control": "no-store"})
