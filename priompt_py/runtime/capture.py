"""Feeding an answer to the handlers that a prompt holds: captures, and tools."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs

from priompt_py.errors import ModelOutputError, RunError
from priompt_py.face.rendered import Rendered
from priompt_py.model.delta import CallDelta, Delta
from priompt_py.model.elements import ToolDefinition
from priompt_py.model.model_output import ModelOutput, ToolCall
from priompt_py.runtime.arguments import arguments_of
from priompt_py.runtime.branch import Branch, Partials
from priompt_py.runtime.joiners import AnyJoiner
from priompt_py.runtime.stream import Pieces

__all__ = ["Handlers", "feed"]

Function: TypeAlias = Callable[..., object]


@attrs.frozen
class Handlers:
    """The handlers of a rendered prompt, each with what errors call it, in document order."""

    on_output: Sequence[tuple[str, Function]]
    on_stream: Sequence[tuple[str, Function]]
    on_stream_response: Sequence[tuple[str, Function]]
    tools: dict[str, ToolDefinition]

    @classmethod
    def of(cls, rendered: Rendered) -> Handlers:
        """Those of the captures and tools that are in. Of equal definitions of a tool the first counts."""
        found: dict[str, list[tuple[str, Function]]] = {
            "on_output": [],
            "on_stream": [],
            "on_stream_response": [],
        }
        for number, capture in enumerate(rendered.captures, 1):
            label = f"capture {number}" if capture.key is None else f"capture {capture.key!r}"
            for name, into in found.items():
                function = getattr(capture, name)
                if function is not None:
                    into.append((f"{name} of {label}", function))
        tools: dict[str, ToolDefinition] = {}
        for definition in rendered.tool_definitions:
            tools.setdefault(definition.name, definition)
        return cls(**found, tools=tools)

    @property
    def takes_calls(self) -> bool:
        """Whether some tool has a handler of its own."""
        return any(
            tool.on_call is not None or tool.on_format is not None or tool.on_parse_error is not None
            for tool in self.tools.values()
        )

    @property
    def takes_streams(self) -> bool:
        """Whether some handler wants the pieces."""
        return bool(self.on_stream or self.on_stream_response)

    @property
    def takes_outputs(self) -> bool:
        """Whether some handler wants the whole answer, so that it is read to its end."""
        return bool(self.on_output) or self.takes_calls

    def names(self) -> list[str]:
        """What errors call all of them."""
        names = [name for name, _ in (*self.on_output, *self.on_stream, *self.on_stream_response)]
        of_tools = [
            f"{name} of tool {tool.name!r}"
            for tool in self.tools.values()
            for name in ("on_call", "on_format", "on_parse_error")
            if getattr(tool, name) is not None
        ]
        return names + of_tools


async def feed(
    answer: ModelOutput | Pieces, handlers: Handlers, *, to_the_end: bool, patience: float
) -> ModelOutput:
    """Give an answer to all handlers, at the same time; the answer, joined.

    Each stream handler gets the whole stream. ``to_the_end`` reads the stream to its end even when no handler reads
    it any more; else it is closed then. ``patience`` is how long, in seconds, a handler may stand still with a full
    queue. The first failure cancels all the others and is raised itself.
    """
    feeding = _Feeding(handlers, to_the_end=to_the_end or handlers.takes_outputs, patience=patience)
    try:
        async with asyncio.TaskGroup() as group:
            feeding.start(group, answer)
    except BaseExceptionGroup as failures:
        errors = list(failures.exceptions)
        if len(errors) > 1:
            raise type(failures)("several handlers failed", errors) from None
        failure = errors[0]
    else:
        return feeding.output
    finally:
        if isinstance(answer, Pieces):  # where the group was cancelled before it had begun to read
            await answer.aclose()
    try:
        raise failure
    finally:
        del (
            failure
        )  # else it would hold this frame, and the frame it: all of the run, until the next collection


class _Feeding:
    """One answer on its way to the handlers. All its methods run in one event loop."""

    def __init__(self, handlers: Handlers, *, to_the_end: bool, patience: float) -> None:
        self.output = ModelOutput()
        self._handlers = handlers
        self._to_the_end = to_the_end
        self._patience = patience
        self._deltas: list[Branch[Delta]] = []
        self._raw: list[Branch[Any]] = []
        self._partials: dict[int, Partials] = {}
        self._reading: asyncio.Task[None] | None = None
        self._may_stop = False  # while the stream is read, and only then
        self._stopped = False
        self._group: asyncio.TaskGroup | None = None

    def start(self, group: asyncio.TaskGroup, answer: ModelOutput | Pieces) -> None:
        """Start all stream handlers in document order, then the reading."""
        self._group = group
        for into, wanted in (
            (self._deltas, self._handlers.on_stream),
            (self._raw, self._handlers.on_stream_response),
        ):
            branches: list[Branch[Any]] = into
            for name, function in wanted:
                branch: Branch[Any] = Branch(name, patience=self._patience, on_detach=self._detached)
                branches.append(branch)
                group.create_task(self._stream(name, function, branch))
        reading = self._read(answer) if isinstance(answer, Pieces) else self._take(answer)
        self._reading = group.create_task(reading)

    # -- reading ----------------------------------------------------------------------------------

    async def _read(self, pieces: Pieces) -> None:
        joiner = AnyJoiner()
        try:
            self._may_stop = True
            if not self._nobody_reads():
                async for piece in pieces:
                    if self._stopped:
                        break  # the model's generator has held off the cancellation
                    await self._hand_on(piece, joiner.add(piece))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            if not task.cancelling():
                raise RunError("the model's stream waited for a task that was cancelled") from None
            if not self._stopped or task.uncancel():  # not ours, or somebody else's too
                raise
        finally:
            self._may_stop = False
            await pieces.aclose()
        self._finish(joiner.output())

    async def _take(self, output: ModelOutput) -> None:
        """A whole answer is a stream of one piece."""
        from priompt_py.runtime.whole import deltas_of

        await self._hand_on(output if output.raw is None else output.raw, deltas_of(output))
        self._finish(output)

    async def _hand_on(self, piece: Any, deltas: list[Delta]) -> None:
        for branch in self._raw:
            await branch.put(piece)
        for delta in deltas:
            if delta.call is not None:
                self._format(delta.call)
            for branch in self._deltas:
                await branch.put(delta)

    def _nobody_reads(self) -> bool:
        return not self._to_the_end and all(branch.is_detached for branch in (*self._deltas, *self._raw))

    def _detached(self) -> None:
        """With its last reader the stream ends, even while its next piece is waited for."""
        if self._may_stop and not self._stopped and self._nobody_reads():
            self._stopped = True
            assert self._reading is not None
            self._reading.cancel()

    def _finish(self, output: ModelOutput) -> None:
        self.output = output
        for branch in (*self._deltas, *self._raw):
            branch.finish()
        for partials in self._partials.values():
            partials.finish()
        assert self._group is not None
        for name, function in self._handlers.on_output:
            self._group.create_task(_named(name, function, output))
        if self._handlers.takes_calls:
            for call in output.tool_calls:
                self._group.create_task(self._call(call))

    # -- handlers ---------------------------------------------------------------------------------

    async def _stream(self, name: str, function: Function, branch: Branch[Any]) -> None:
        try:
            await _named(name, function, branch)
        finally:
            branch.detach()

    def _format(self, delta: CallDelta) -> None:
        """Start the tool's on_format with the first piece of a call, and tell it of each."""
        if delta.position not in self._partials:
            definition = self._handlers.tools.get(delta.name or "")
            if definition is None:
                return  # of no tool, or its name is still to come
            self._partials[delta.position] = partials = Partials()
            if definition.on_format is not None:
                begun = ToolCall(delta.id, definition.name, "", incomplete=True)
                assert self._group is not None
                name = f"on_format of {_label(begun)}"
                self._group.create_task(_named(name, definition.on_format, partials, begun))
        self._partials[delta.position].add(delta.arguments)

    async def _call(self, call: ToolCall) -> None:
        label = _label(call)
        definition = self._handlers.tools.get(call.name)
        if definition is None:
            await self._unknown(call, label)
            return
        if definition.on_call is None and definition.on_parse_error is None:
            return
        try:
            arguments = arguments_of(definition, call)
        except ModelOutputError as error:
            if definition.on_parse_error is None:
                raise
            await _named(f"on_parse_error of {label}", definition.on_parse_error, error, call)
            return
        if definition.on_call is None:
            return
        result = await _called(f"on_call of {label}", definition, arguments, call)
        if definition.on_result is not None:
            await _named(f"on_result of {label}", definition.on_result, result, call)

    async def _unknown(self, call: ToolCall, label: str) -> None:
        """A tool that the model made up. Where all on_parse_error are one function, it is told."""
        there = ", ".join(self._handlers.tools)
        error = ModelOutputError(
            f"the model calls {call.name!r}, which is no tool of the prompt; it has {there}"
        )
        handlers = [tool.on_parse_error for tool in self._handlers.tools.values() if tool.on_parse_error]
        if not handlers or any(handler is not handlers[0] for handler in handlers):
            raise error
        await _named(f"on_parse_error of {label}", handlers[0], error, call)


def _label(call: ToolCall) -> str:
    return f"tool {call.name!r}" if call.id is None else f"tool {call.name!r} (id {call.id!r})"


async def _called(name: str, definition: ToolDefinition, arguments: Any, call: ToolCall) -> Any:
    from priompt_py.author.tools import TypedCall

    handler = definition.on_call
    assert handler is not None
    if isinstance(handler, TypedCall):
        if handler.cls is None:  # the function itself, by keywords
            function = handler.function
            return await _named(name, lambda: function(**arguments))
        handler = handler.function
    return await _named(name, handler, arguments, call)


async def _named(name: str, function: Function, *values: object) -> Any:
    """Call a handler with as many of the values as it takes by position; await what it gives.

    Its exceptions pass through, with a note that says whose they are.
    """
    task = asyncio.current_task()
    try:
        given = function(*values[: _arity(function, len(values))])
        if inspect.isasyncgen(given):
            raise RunError(f"{name} is an async generator, which nobody reads: leave out its `yield`")
        if inspect.isgenerator(given):
            raise RunError(f"{name} is a generator, which nobody reads: leave out its `yield`")
        return await given if inspect.isawaitable(given) else given
    except asyncio.CancelledError:
        if (
            task is not None and not task.cancelling()
        ):  # nobody cancelled it: something that it waited for was
            raise RunError(f"{name} waited for a task that was cancelled") from None
        raise
    except Exception as error:
        error.add_note(f"in {name}")
        raise


def _arity(function: Function, most: int) -> int:
    """How many of ``most`` values a function takes by position; all, where it doesn't tell."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return most
    for count in range(most, -1, -1):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return most
