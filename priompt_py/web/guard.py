"""Who may ask what: before anything is routed.

* Only the exact hosts that are served are answered, on every path. A web page whose name was pointed to 127.0.0.1
  (DNS rebinding) comes with its own name.
* Pages of other origins are refused (CSRF), whatever they ask for.
* Everything under ``api/`` needs the token, reading too: prompts are private, and loopback is open to all users of a
  machine.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, TypeAlias

from priompt_py.web.answers import Refusal

__all__ = ["CSP", "TOKEN_HEADER", "Guard", "check_host", "check_origin", "is_host"]

Message: TypeAlias = "MutableMapping[str, Any]"
Receive: TypeAlias = "Callable[[], Awaitable[Message]]"
Send: TypeAlias = "Callable[[Message], Awaitable[None]]"
App: TypeAlias = "Callable[[Message, Receive, Send], Awaitable[None]]"

_log = logging.getLogger("priompt_py.web")

TOKEN_HEADER = b"x-priompt-token"

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
"""The content security policy: nothing inline, nothing from elsewhere, no frames around the page."""

_HEADERS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Guard:
    """An ASGI app in front of another one.

    ``hosts`` are names that are served beside loopback's, ``name:port`` or ``name`` alone for the port that is listened
    on (and for the usual ones, behind a proxy).
    """

    def __init__(self, app: App, *, token: str, hosts: Collection[str] = ()) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            try:
                await send(message)
            except Exception as error:  # noqa: BLE001 - whatever the server says of a connection that is over
                _log.debug("an answer could not be sent: %s", error)

        try:
            self._check(scope)
        except Refusal as refusal:
            status, body = refusal.answer()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
            ]
            await guarded({"type": "http.response.start", "status": status, "headers": headers})
            await guarded({"type": "http.response.body", "body": body})
            return
        await self._app(scope, receive, guarded)

    def _check(self, scope: Message) -> None:
        """Raises Refusal."""
        if not scope.get("raw_path", b"/").startswith(b"/"):
            raise Refusal(400, "malformed", "the request names another server")
        host = check_host(_headers(scope, b"host"), scope.get("server"), self._hosts)
        origins = _headers(scope, b"origin")
        site = _headers(scope, b"sec-fetch-site")
        is_api = is_api_path(scope)
        is_visit = (
            not is_api
            and scope["method"] == "GET"
            and _headers(scope, b"sec-fetch-mode") == ["navigate"]
            and _headers(scope, b"sec-fetch-dest") == ["document"]
        )
        check_origin(origins, site, host, is_visit=is_visit)
        if is_api:
            given = [value.encode("latin-1") for value in _headers(scope, TOKEN_HEADER)]
            if len(given) != 1 or not hmac.compare_digest(given[0], self._token):
                raise Refusal(
                    401,
                    "token",
                    "open the address that was printed when the server started: it holds the token",
                )


def is_host(text: str) -> bool:
    """Whether ``text`` can be what a browser names as its host: a name or an address, in lower case or not, and perhaps
    a port; no scheme, path or wildcard."""
    return _HOST.fullmatch(text.lower()) is not None


def is_api_path(scope: Message) -> bool:
    """Whether a path below the mount point is the interface's."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(root):
        path = path[len(root) :]
    return path.lstrip("/").partition("/")[0].lower() == "api"


def _headers(scope: Message, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def check_host(given: list[str], server: Any, hosts: Collection[str]) -> str:
    """The host that is asked for. Raises Refusal for what isn't served.

    ``server`` is the address that the connection came to, ``(ip, port)``, None of a socket that has none. An address in
    figures is no name that somebody could point elsewhere: it has to be the one that the connection came to.
    """
    if len(given) != 1:
        raise Refusal(400, "host", f"a request names one host, this one {len(given)}")
    host = given[0].lower()
    if host in hosts:
        return host
    address, port = server or (None, None)
    allowed = [f"{name}:{port}" for name in (*LOOPBACK, *hosts, *_in_figures(address))]
    if port in (80, 443):
        allowed += [*LOOPBACK, *_in_figures(address)]
    if host not in allowed:
        raise Refusal(403, "host", f"this server isn't {given[0][:100]!r}")
    return host


def _in_figures(address: object) -> list[str]:
    """The address of a connection as it stands in a host, unless it is any."""
    try:
        found = ipaddress.ip_address(str(address).partition("%")[0])
    except ValueError:
        return []
    if found.is_unspecified:
        return []
    return [f"[{found}]" if found.version == 6 else str(found)]


def check_origin(origins: list[str], site: list[str], host: str, *, is_visit: bool) -> None:
    """Raises Refusal for a request that a page of another origin makes; ``is_visit``: somebody follows a link to here."""
    for origin in origins:
        if origin.lower() not in (f"http://{host}", f"https://{host}"):
            raise Refusal(403, "origin", f"pages of {origin[:100]!r} may not ask this server")
    if any(one not in ("same-origin", "none") for one in site) and not is_visit:
        raise Refusal(403, "origin", "pages of other sites may not ask this server")
