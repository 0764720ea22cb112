"""What a model answered, in one form for every provider. Everything here is immutable."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias, cast

import attrs

from priompt_py.errors import ModelOutputError
from priompt_py.model.elements import Call, Part
from priompt_py.model.values import short_repr

__all__ = ["ModelOutput", "OutputContent", "ToolCall", "Usage"]


@attrs.frozen
class ToolCall(Call):
    """A call that the model made: ``arguments`` is the text as it was sent, whether or not it is JSON.

    ``incomplete`` says that the answer ended before the call did, so that ``arguments`` may be half of what was
    meant. Everything that takes a ``Call`` takes this: ``assistant_message(tool_calls=output.tool_calls)``.
    """

    incomplete: bool = False

    @property
    def parsed(self) -> dict[str, Any]:
        """The arguments as a mapping, parsed anew each time; blank text, which models send for none, is ``{}``.

        Raises ModelOutputError, naming the call, for what is no JSON object, and for NaN and infinities.
        """
        if not self.arguments.strip():
            return {}
        try:
            value: object = json.loads(self.arguments, parse_constant=_refuse_constant, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            cut = "; the answer ended before the call did" if self.incomplete else ""
            raise ModelOutputError(
                f"the arguments of the call {self._label} are no JSON ({_fault(error)}): "
                f"{short_repr(self.arguments)}{cut}"
            ) from None
        if not isinstance(value, dict):
            raise ModelOutputError(
                f"the arguments of the call {self._label} are no JSON object: {short_repr(self.arguments)}"
            )
        return cast("dict[str, Any]", value)

    @property
    def _label(self) -> str:
        return repr(self.name) if self.id is None else f"{self.name!r} (id {self.id!r})"


class _ConstantError(ValueError):
    """NaN or an infinity, which Python's parser takes for JSON, or makes of a number like 1e999."""


def _refuse_constant(name: str) -> None:
    raise _ConstantError(f"it holds {name}")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _ConstantError("it holds a number too large")
    return number


def _fault(error: ValueError | RecursionError) -> str:
    """What is wrong, in the same words on every Python; characters count from 0."""
    if isinstance(error, json.JSONDecodeError):
        return f"at character {error.pos}"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error) if isinstance(error, _ConstantError) else "it holds a number of too many digits"


OutputContent: TypeAlias = str | Part


@attrs.frozen
class Usage:
    """Tokens as the provider counted them; None is what it did not say.

    ``input_tokens`` is the whole prompt, with what came from a cache (``cached_tokens``) and what was written to
    one (``cache_write_tokens``), for every provider. ``output_tokens`` is the whole answer, with
    ``reasoning_tokens``.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


def _texts(output: ModelOutput) -> tuple[OutputContent, ...]:
    return tuple(text for text in (output.text, output.refusal) if text)


@attrs.frozen
class ModelOutput:
    """One answer of a model.

    ``text`` is all its text, joined. ``finish_reason`` is ``stop``, ``length`` (the answer was cut), ``tool_calls``,
    ``content_filter`` (refused or filtered) or ``pause`` (the provider wants to be asked again with the answer so
    far), for every provider; another reason stands as the provider gave it, None where there is none. ``reasoning``
    is what can be read of the model's thoughts. ``raw`` is what the answer was made from; it counts for nothing when
    two outputs are compared.

    ``content`` is what belongs into the history, in order: text (a refusal is text), and as parts what the provider
    wants back verbatim (thinking blocks, reasoning items). The answer as a message is
    ``assistant_message(tool_calls=output.tool_calls)[output.content]``.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: str | None = None
    content: tuple[OutputContent, ...] = attrs.Factory(_texts, takes_self=True)
    raw: Any = attrs.field(default=None, eq=False, repr=False)
