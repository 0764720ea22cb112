"""The ASGI app: the page, its files, the interface, and the guard in front of them."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from priompt_py.author.checks import got
from priompt_py.author.children import is_mapping
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.runtime.live import HUB, Hub
from priompt_py.web.answers import Refusal
from priompt_py.web.api import Api
from priompt_py.web.events import Events
from priompt_py.web.files import static_file
from priompt_py.web.guard import Guard, Message, Receive, Send, is_host
from priompt_py.web.questions import Desk
from priompt_py.web.registered import RegisteredPrompts
from priompt_py.web.threads import ThreadWorker
from priompt_py.web.workers import Pool

__all__ = ["PreviewApp", "preview_app"]

STREAM_SECONDS = 15.0
"""How long an event stream of a mounted app lasts: a server that stops waits for it, and pages connect again."""

TIMEOUT = 30.0
"""Seconds that a prompt's code may take for one request."""

LEAST_TOKEN = 16
"""Characters of a token that somebody gives."""

_log = logging.getLogger("priompt_py.web")


class PreviewApp:
    """An ASGI app. ``token`` is what the page has to be given: it is opened at ``address(of its mount point)``."""

    def __init__(
        self,
        pool: Pool,
        hub: Hub,
        *,
        mode: Literal["serve", "app"],
        token: str,
        hosts: Collection[str],
        timeout: float,
        stream_seconds: float,
    ) -> None:
        self.token = token
        self.pool = pool
        self.events = Events(seconds=stream_seconds)
        self.desk = Desk(hub, self._questions_changed)
        self._api = Api(pool, self.desk, self.events, mode=mode, timeout=timeout)
        routes = [
            *self._api.routes(),
            Route("/", _page, methods=["GET"]),
            Route("/static/{path:path}", _static, methods=["GET"]),
        ]
        inner = Starlette(routes=routes)
        inner.add_exception_handler(HTTPException, _refused)
        inner.add_exception_handler(Exception, _failed)
        inner.router.redirect_slashes = False
        self._app = Guard(inner, token=token, hosts=hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def address(self, base: str) -> str:
        """The address of the page with its token; ``base`` is where the app is mounted, ``http://host:port/prefix``."""
        return f"{base.rstrip('/')}/#token={self.token}"

    async def stop(self) -> None:
        """End event streams and workers; questions of this program go on waiting."""
        self.events.stop()
        self.desk.stop()
        await self.pool.stop()

    def _questions_changed(self) -> None:
        if self.events.listeners:
            self._api.tell_questions()


def preview_app(
    prompts: Mapping[str, Any] | None = None,
    *,
    token: str | None = None,
    hosts: Collection[str] = (),
    timeout: float = TIMEOUT,
    hub: Hub | None = None,
) -> PreviewApp:
    """The web preview as an ASGI app to mount in one's own server, as in ``Mount("/preview", app)``.

    It shows ``prompts`` (functions, components, templates and nodes by name), else all that are registered in this
    process, and the questions of ``hub``, by default those that ``live`` asks. Prompts run in threads of this program:
    code that takes longer than ``timeout`` seconds is no longer waited for, but can't be ended.

    ``token`` is what a page needs to see anything; without it a random one is made, and ``.address(base)`` tells the
    page's whole address. Requests for loopback and for the address in figures that they came to are answered; ``hosts``
    are further names, ``name`` or ``name:port``, exactly as browsers send them.

    Raises ArgumentTypeError and ArgumentValueError.
    """
    if prompts is not None and not is_mapping(prompts):
        raise ArgumentTypeError(f"preview_app() needs prompts by name, got prompts={got(prompts)}")
    if token is not None and not isinstance(token, str):
        raise ArgumentTypeError(f"preview_app() needs text for token, got token={got(token)}")
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        raise ArgumentValueError(
            f"preview_app() needs a token of at least {LEAST_TOKEN} characters of ASCII; without one it makes its own"
        )
    if isinstance(hosts, str) or not all(isinstance(host, str) for host in hosts):
        raise ArgumentTypeError(f"preview_app() needs a list of names for hosts, got hosts={got(hosts)}")
    for host in hosts:
        if not is_host(host):
            raise ArgumentValueError(
                f"preview_app() needs names as in preview.example:8443 for hosts, got {got(host)}"
            )
    if not _is_seconds(timeout):
        raise ArgumentValueError(
            f"preview_app() needs seconds above 0 for timeout, got timeout={got(timeout)}"
        )
    if hub is not None and not isinstance(hub, Hub):
        raise ArgumentTypeError(f"preview_app() needs a Hub for hub, got hub={got(hub)}")
    catalogue = RegisteredPrompts(prompts)
    pool = Pool(partial(ThreadWorker.start, catalogue), timeout=float(timeout))
    return PreviewApp(
        pool,
        HUB if hub is None else hub,
        mode="app",
        token=secrets.token_urlsafe(24) if token is None else token,
        hosts=hosts,
        timeout=float(timeout),
        stream_seconds=STREAM_SECONDS,
    )


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


# ------------------------------------------------------------------------------------------ the page


async def _page(request: Request) -> Response:
    if not request.scope["path"].endswith(
        "/"
    ):  # mounted, and asked for without the slash: links would lead elsewhere
        return RedirectResponse(f"{request.scope['path']}/", 308)
    return _file(request, "index.html")


async def _static(request: Request) -> Response:
    return _file(request, request.path_params["path"])


def _file(request: Request, path: str) -> Response:
    found = static_file(path)
    if found is None:
        raise HTTPException(404)
    headers = {"ETag": found.etag, "Cache-Control": "no-cache"}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    # The type as it is: Starlette would add a charset of its own.
    return Response(found.data, headers={**headers, "Content-Type": found.media_type})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path: str = request.scope["path"]
    if error.status_code == 404 and path == request.scope.get("root_path", ""):
        # Mounted, and asked for without the slash: links of the page would lead elsewhere.
        return RedirectResponse(f"{path}/", 308)
    if error.status_code == 405:
        refusal = Refusal(405, "unknown", "this method isn't allowed here")
    else:
        refusal = Refusal(error.status_code, "unknown", "there is nothing at this address")
    status, body = refusal.answer()
    return Response(body, status, media_type="application/json", headers={"Cache-Control": "no-store"})


async def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette's
    _log.error("a request failed", exc_info=error)
    status, body = Refusal(
        500, "ours", "this is a fault of priompt itself; the server's log tells more"
    ).answer()
    return Response(body, status, media_type="application/json", headers={"Cache-Control": "no-store"})
