"""One POST of JSON to a server, by the standard library: with an end in time and size, and never elsewhere.

Redirects aren't followed: the key would go with them. A server on this machine is asked directly, whatever proxy the
environment names.
"""

from __future__ import annotations

import http.client
import ipaddress
import math
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

import attrs

__all__ = ["Answer", "Unanswered", "is_local", "post"]


@attrs.frozen
class Answer:
    """What a server said. ``retry_after`` is in seconds, where it says so in seconds."""

    status: int
    body: bytes
    retry_after: float | None = None


class Unanswered(Exception):
    """No whole answer came. ``reason`` is ``unreachable`` or ``timeout`` or ``answer`` (too long)."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, timeout: float, most_bytes: int = 256 << 20
) -> Answer:
    """What the server at ``url`` answers, whatever its status. Raises Unanswered.

    ``timeout`` is in seconds, for each wait and for the whole; a server that stops in the middle of its answer can
    take twice as long.
    """
    request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310 - http(s), checked where the URL was given
    handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
    if is_local(url):
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    end = time.monotonic() + timeout
    try:
        with _opened(opener, request, timeout) as response:
            status: int = response.status
            return Answer(status, _read(response, end, timeout, most_bytes), _seconds(response.headers))
    except TimeoutError:
        raise _late(timeout) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise _late(timeout) from None
        raise Unanswered("unreachable", f"it can't be reached: {error.reason}") from None
    except (http.client.HTTPException, OSError) as error:
        said = str(error) or type(error).__name__
        raise Unanswered("unreachable", f"it broke the connection off: {said}") from None


def is_local(url: str) -> bool:
    """Whether the URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Response(Protocol):
    length: Any

    def read1(self, size: int, /) -> bytes: ...


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """None: the redirect is the answer."""


def _opened(opener: urllib.request.OpenerDirector, request: urllib.request.Request, timeout: float) -> Any:
    try:
        return opener.open(request, timeout=timeout)
    except urllib.error.HTTPError as error:  # an answer, too
        return error


def _read(response: _Response, end: float, timeout: float, most_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while chunk := response.read1(1 << 16):
        parts.append(chunk)
        size += len(chunk)
        if size > most_bytes:
            raise Unanswered("answer", f"its answer is longer than {most_bytes >> 20} MiB")
        if time.monotonic() > end:
            raise _late(timeout)
    if getattr(response, "length", None):  # what is still due: reading in parts doesn't tell
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(parts)


def _late(timeout: float) -> Unanswered:
    return Unanswered("timeout", f"it took longer than {timeout:g} s")


def _seconds(headers: Mapping[str, str]) -> float | None:
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
