"""Reading requests: sizes, times and types are checked before anything is done with them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from priompt_py.model.strict_json import JsonFault, parse_json
from priompt_py.preview.json_kinds import is_object
from priompt_py.web.answers import Refusal

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["MOST_BYTES", "Fields", "object_of", "query_of"]

MOST_BYTES = 40 * 1024 * 1024
"""Of a request's body: a dump of 32 MB fits."""

BODY_TIME = 30.0
"""Seconds in which a body has to have come."""

MOST_DIGITS = 12  # of a number in a query


class Fields:
    """The fields of a request by name, each read once; ``end`` refuses those that nobody read. Raises Refusal."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = dict(values)

    def take(self, name: str, kind: type | tuple[type, ...], told: str, *, default: Any = ...) -> Any:
        """The field of a name; None counts as left out where there is a default."""
        value = self._values.pop(name, None)
        if value is None:
            if default is ...:
                raise Refusal(400, "malformed", f"{name} is missing: it is {told}")
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise Refusal(400, "malformed", f"{name} has to be {told}")
        return value

    def text(self, name: str, *, default: Any = ...) -> Any:
        """A text."""
        return self.take(name, str, "text", default=default)

    def count(self, name: str, *, default: Any = ...) -> Any:
        """A whole number, 0 or more, also as the text of a query."""
        value = self._values.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS:
            self._values[name] = int(value)
        if name not in self._values:
            return self.take(name, int, "a whole number, 0 or more", default=default)
        found = self.take(name, int, "a whole number, 0 or more", default=default)
        if isinstance(found, int) and not 0 <= found < 10**MOST_DIGITS:
            raise Refusal(
                400, "malformed", f"{name} has to be a whole number from 0 to {10**MOST_DIGITS - 1:,}"
            )
        return found

    def spot(self) -> dict[str, int]:
        """``limit`` or ``level``: one of them."""
        limit, level = self.count("limit", default=None), self.count("level", default=None)
        if (limit is None) == (level is None):
            raise Refusal(400, "malformed", "give one of limit and level")
        return {"level": level} if limit is None else {"limit": limit}

    def end(self) -> None:
        """Nothing else may have been given."""
        if self._values:
            raise Refusal(400, "malformed", f"no field is called {next(iter(self._values))!r} here")


def query_of(request: Request) -> Fields:
    """The fields of a query. Raises Refusal for one that is given twice."""
    items = request.query_params.multi_items()
    if len({name for name, _ in items}) != len(items):
        raise Refusal(400, "malformed", "a field of the query is given twice")
    return Fields(dict(items))


async def object_of(request: Request) -> Fields:
    """The fields of a body of JSON. Raises Refusal."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != "application/json":
        raise Refusal(415, "type", "send JSON, with the content type application/json")
    try:
        async with asyncio.timeout(BODY_TIME):
            body = await _body(request)
    except TimeoutError:
        raise Refusal(
            400, "malformed", f"the request's body took longer than {BODY_TIME:g} seconds"
        ) from None
    try:
        value = parse_json(body.decode())
    except UnicodeDecodeError as error:
        raise Refusal(
            400, "malformed", f"not UTF-8: byte 0x{body[error.start]:02X} at {error.start}"
        ) from None
    except RecursionError:
        raise Refusal(400, "malformed", "not JSON: nested too deeply") from None
    except JsonFault as error:
        raise Refusal(400, "malformed", f"not JSON: {error}") from None
    if not is_object(value):
        raise Refusal(400, "malformed", "send a JSON object")
    return Fields(value)


async def _body(request: Request) -> bytes:
    from starlette.requests import ClientDisconnect

    length = request.headers.get("content-length", "0")
    too_large = Refusal(413, "large", f"a request has at most {MOST_BYTES:,} bytes")
    if length.isdigit() and int(length[:20]) > MOST_BYTES:
        raise too_large
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MOST_BYTES:
                raise too_large
            chunks.append(chunk)
    except ClientDisconnect:
        raise Refusal(400, "malformed", "the request broke off") from None
    return b"".join(chunks)
