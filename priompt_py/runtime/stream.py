"""What a model's function gives, as one thing: a whole answer, or a stream that can be read once and closed."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from priompt_py.author.checks import got
from priompt_py.errors import RunError
from priompt_py.model.delta import Delta
from priompt_py.model.model_output import ModelOutput, ToolCall
from priompt_py.model.values import short_repr
from priompt_py.runtime.joiners import AnyJoiner

__all__ = ["ModelStream", "Pieces", "answer_of"]


def answer_of(given: Any) -> ModelOutput | Pieces:
    """What a model's function gave, awaited already. Raises RunError for what is no answer."""
    if isinstance(given, ModelOutput):
        _check_output(given)
        return given
    if isinstance(given, str):
        return ModelOutput(text=given, raw=given)
    if isinstance(given, ModelStream):
        return given.pieces
    if _is_stream(given):
        return Pieces(given)
    hint = (
        "a function that calls a client is made by openai_model(client, model=...) or anthropic_model(...); what a "
        "client answered at once is read by output_from_openai(...) and its like"
    )
    if hasattr(given, "__aenter__") or hasattr(given, "__enter__"):
        hint = "it has to be entered first: give what `with` gives"
    raise RunError(
        "the model has to give text, a ModelOutput, an iterator of Deltas, texts or a client's pieces, or something "
        f"that can be awaited for one of these; got {short_repr(given)} ({type(given).__name__}); {hint}"
    )


def _check_output(output: ModelOutput) -> None:
    """Raises RunError for fields that handlers would stumble over: somebody may have made it of an answer by hand."""
    given: list[tuple[str, Any, type]] = [("text", output.text, str)]
    for number, call in enumerate(output.tool_calls):
        place = f"tool_calls[{number}]"
        given.append((place, call, ToolCall))
        if isinstance(call, ToolCall):
            given += [(f"{place}.name", call.name, str), (f"{place}.arguments", call.arguments, str)]
    for name, value, kind in given:
        if not isinstance(value, kind):
            wanted = "text" if kind is str else "a ToolCall"
            raise RunError(f"the model gave a ModelOutput whose {name} has to be {wanted}, got {got(value)}")


def _is_stream(given: object) -> bool:
    """Whether it can be iterated, and is no whole answer of a client: those of pydantic can be iterated too."""
    if isinstance(given, bytes | bytearray | Mapping):
        return False
    names = dir(type(given))
    return "model_dump" not in names and ("__aiter__" in names or "__iter__" in names)


class Pieces:
    """A stream as the model gives it, from either kind of iterator. It is read once, by one reader."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._async: AsyncIterator[Any] | None = None
        self._sync: Iterator[Any] | None = None
        if hasattr(source, "__aiter__"):
            self._async = aiter(source)
        else:
            self._sync = iter(source)
        self._is_closed = False

    def __aiter__(self) -> Pieces:
        return self

    async def __anext__(self) -> Any:
        if self._is_closed:
            raise StopAsyncIteration
        await asyncio.sleep(0)  # handlers get their turn between two pieces of an iterator that never waits
        if self._async is not None:
            return await anext(self._async)
        assert self._sync is not None
        for piece in self._sync:
            return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Close the model's stream, and with it the connection; once, whoever asks."""
        if self._is_closed:
            return
        self._is_closed = True
        inner = self._sync if self._async is None else self._async
        try:
            if inner is not self._source:  # the source has made an iterator of its own
                await _close(inner)
        finally:
            await _close(self._source)


async def _close(source: Any) -> None:
    """Call the closing method of an iterator or of a client's stream, where it has one."""
    for name in ("aclose", "close"):
        method = getattr(source, name, None)
        if callable(method):
            closing = method()
            if inspect.isawaitable(closing):
                await closing
            return


class ModelStream:
    """A model's answer as it streams: an async iterator of Deltas, to be read once.

    It is what ``run`` gives where nothing in the prompt takes the answer. ``output`` is the answer as far as it has
    been read, ``join()`` reads the rest. Close it, or use it in ``async with``, to stop early: that closes the
    provider's stream too.
    """

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self._joiner = AnyJoiner()
        self._deltas: list[Delta] = []
        self._next = 0

    def __aiter__(self) -> ModelStream:
        return self

    async def __anext__(self) -> Delta:
        while self._next >= len(self._deltas):
            self._deltas, self._next = await self._more(), 0
        self._next += 1
        return self._deltas[self._next - 1]

    async def _more(self) -> list[Delta]:
        try:
            return self._joiner.add(await anext(self.pieces))
        except BaseException:  # the end is one, too
            await self.pieces.aclose()
            raise

    @property
    def output(self) -> ModelOutput:
        """The answer as far as it has come."""
        return self._joiner.output()

    async def join(self) -> ModelOutput:
        """Read to the end; the whole answer."""
        async for _ in self:
            pass
        return self.output

    async def aclose(self) -> None:
        """Close the provider's stream. What was read stays in ``output``."""
        await self.pieces.aclose()
        self._deltas, self._next = [], 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
