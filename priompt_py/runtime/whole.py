"""A whole answer as the pieces of a stream, for handlers that want pieces whatever the model gives."""

from __future__ import annotations

from priompt_py.model.delta import CallDelta, Delta
from priompt_py.model.model_output import ModelOutput

__all__ = ["deltas_of"]


def deltas_of(output: ModelOutput) -> list[Delta]:
    """The Deltas that join to this answer: its texts, each call, its end. Nothing for an empty one."""
    first = Delta(text=output.text, reasoning=output.reasoning or "", refusal=output.refusal or "")
    calls = [
        Delta(call=CallDelta(position, call.id, call.name, call.arguments))
        for position, call in enumerate(output.tool_calls)
    ]
    last = Delta(finish_reason=output.finish_reason, usage=output.usage)
    return [delta for delta in (first, *calls, last) if delta != Delta()]
