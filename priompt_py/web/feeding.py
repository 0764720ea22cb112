"""A typed answer on its way to a prompt's handlers, and what each of them gave."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

import attrs

from priompt_py.model.delta import CallDelta, Delta
from priompt_py.model.elements import ToolDefinition
from priompt_py.model.model_output import ModelOutput, ToolCall
from priompt_py.preview.compiling import compiled, priced
from priompt_py.preview.json_kinds import is_array, is_object
from priompt_py.preview.no_return import ON_RETURN
from priompt_py.runtime.branch import Branch
from priompt_py.runtime.capture import Handlers, feed
from priompt_py.runtime.returns import Returns
from priompt_py.runtime.stream import Pieces
from priompt_py.web.answers import Refusal, as_json, failure
from priompt_py.web.view import View

__all__ = ["fed", "output_of"]

PATIENCE = 5.0
"""Seconds that a handler may stand still with a full queue."""

LONGEST_PAUSE = 1.0  # seconds between two pieces

_WORDS = re.compile(r"\s*\S+\s*|\s+")


def output_of(answer: Any) -> ModelOutput:
    """An answer from the page: text, or an object with text, reasoning, tool_calls and finish_reason. Raises Refusal."""
    if isinstance(answer, str):
        return ModelOutput(text=answer, finish_reason="stop")
    if not is_object(answer):
        raise _malformed("an answer is text or an object")
    known = {"text", "reasoning", "tool_calls", "finish_reason"}
    for name in answer:
        if name not in known:
            raise _malformed(f"an answer has no field {name!r}: it has {', '.join(sorted(known))}")
    calls: Any = answer.get("tool_calls", [])
    if not is_array(calls) or not all(map(is_object, calls)):
        raise _malformed("tool_calls of an answer are a list of objects")
    for name in ("text", "reasoning", "finish_reason"):
        if not isinstance(answer.get(name, ""), str):
            raise _malformed(f"{name} of an answer is text")
    made = tuple(map(_call, calls))
    return ModelOutput(
        text=answer.get("text", ""),
        reasoning=answer.get("reasoning") or None,
        tool_calls=made,
        finish_reason=answer.get("finish_reason") or ("tool_calls" if made else "stop"),
    )


def _call(call: Mapping[str, Any]) -> ToolCall:
    name, arguments, call_id = call.get("name"), call.get("arguments", "{}"), call.get("id")
    if is_object(arguments):
        arguments = json.dumps(arguments, ensure_ascii=False)
    if not isinstance(name, str) or not isinstance(arguments, str) or not isinstance(call_id, str | None):
        raise _malformed("a call has a name, arguments as text or an object, and may have an id")
    return ToolCall(call_id, name, arguments)


def _malformed(message: str) -> Refusal:
    return Refusal(400, "malformed", message)


# ------------------------------------------------------------------------------------------ feeding


@attrs.define(eq=False)
class _Heard:
    """One call of a handler."""

    handler: str
    state: str = "running"
    returned: Any = None
    error: Any = None
    pieces: int | None = None


def fed(view: View, limit: int, answer: Any, *, stream: bool, pause: float) -> dict[str, Any]:
    """Make the prompt anew under a limit, and give its handlers an answer, whole or in pieces.

    What the handlers raise is part of what is given; raises Refusal, PromptTooLong and what making the prompt does.
    """
    output = output_of(answer)
    returns = Returns()
    takes = view.served.takes_return
    props = {**view.props, ON_RETURN: returns} if takes else view.props
    program = compiled(lambda: view.served.build(props))
    settings = attrs.evolve(view.settings, token_limit=limit)
    pricing = priced(program, settings)
    rendered = program.rendered(settings, pricing, program.solve(settings, pricing), source_map=False)
    heard: list[_Heard] = []
    handlers = _listening(Handlers.of(rendered), heard)
    told: dict[str, Any] = {"returned": None, "output": None, "calls": heard, "error": None}

    async def go() -> None:
        given = Pieces(_pieces(output, min(max(pause, 0.0), LONGEST_PAUSE))) if stream else output
        joined = await feed(given, handlers, to_the_end=True, patience=PATIENCE)
        told["output"] = _shown(joined)
        if takes:
            told["returned"] = as_json(returns.value(handlers.names()))

    try:
        asyncio.run(go())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anybody's handlers
        told["error"] = _error(error)
    told["calls"] = [attrs.asdict(one) for one in heard]
    return told


def _error(error: BaseException) -> Any:
    return json.loads(failure(error)[1])["error"]


def _shown(output: ModelOutput) -> dict[str, Any]:
    return {
        "text": output.text,
        "reasoning": output.reasoning,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in output.tool_calls
        ],
        "finish_reason": output.finish_reason,
    }


async def _pieces(output: ModelOutput, pause: float) -> AsyncIterator[Delta]:
    """The answer as a model streams it: word by word, calls in halves."""
    for text in _WORDS.findall(output.reasoning or ""):
        yield Delta(reasoning=text)
        await asyncio.sleep(pause)
    for text in _WORDS.findall(output.text):
        yield Delta(text=text)
        await asyncio.sleep(pause)
    for position, call in enumerate(output.tool_calls):
        half = len(call.arguments) // 2
        yield Delta(call=CallDelta(position, call.id, call.name, call.arguments[:half]))
        await asyncio.sleep(pause)
        yield Delta(call=CallDelta(position, None, None, call.arguments[half:]))
    yield Delta(finish_reason=output.finish_reason)


# ------------------------------------------------------------------------------------------ listening


def _listening(handlers: Handlers, heard: list[_Heard]) -> Handlers:
    """The same handlers; each call of one is noted in ``heard``."""

    def all_of(named: Iterable[tuple[str, Callable[..., object]]], *, streams: bool) -> list[Any]:
        return [(name, _noted(function, name, heard, streams=streams)) for name, function in named]

    tools = {name: _listening_tool(name, tool, heard) for name, tool in handlers.tools.items()}
    return attrs.evolve(
        handlers,
        on_output=all_of(handlers.on_output, streams=False),
        on_stream=all_of(handlers.on_stream, streams=True),
        on_stream_response=all_of(handlers.on_stream_response, streams=True),
        tools=tools,
    )


def _listening_tool(name: str, tool: ToolDefinition, heard: list[_Heard]) -> ToolDefinition:
    noted: dict[str, Any] = {}
    for field in ("on_call", "on_result", "on_parse_error"):
        handler = getattr(tool, field)
        if handler is not None:
            noted[field] = _noted_tool(handler, f"{field} of tool {name!r}", heard)
    return attrs.evolve(tool, **noted)


def _noted(function: Callable[..., object], name: str, heard: list[_Heard], *, streams: bool = False) -> Any:
    """A handler that takes what ``function`` takes, and notes what it does."""

    @functools.wraps(function)
    async def call(*values: Any, **named: Any) -> Any:
        note = _Heard(name)
        heard.append(note)
        if streams and values:
            note.pieces = 0
            values = (_Counted(values[0], note), *values[1:])
        try:
            given = function(*values, **named)
            if inspect.isawaitable(given):
                given = await given
        except asyncio.CancelledError:
            note.state = "cancelled"
            raise
        except BaseException as error:
            note.state, note.error = "raised", _error(error)
            raise
        note.state, note.returned = "returned", as_json(given)
        return given

    return call


def _noted_tool(handler: Any, name: str, heard: list[_Heard]) -> Any:
    from priompt_py.author.tools import TypedCall

    if isinstance(handler, TypedCall):
        return attrs.evolve(handler, function=_noted(handler.function, name, heard))
    return _noted(handler, name, heard)


class _Counted(Branch[Any]):
    """A handler's stream, whose pieces are counted as they are read."""

    def __init__(self, stream: Branch[Any], note: _Heard) -> None:
        super().__init__(stream.name, patience=PATIENCE, on_detach=stream.detach)
        self._stream = stream
        self._note = note

    async def __anext__(self) -> Any:
        piece = await anext(self._stream)
        self._note.pieces = (self._note.pieces or 0) + 1
        return piece
