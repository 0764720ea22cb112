"""Anthropic's official client as the model of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from priompt_py.author.checks import text, truth, whole_number
from priompt_py.face.rendered import Rendered
from priompt_py.providers.answers import output_from_anthropic
from priompt_py.runtime.answering import answered

__all__ = ["AnthropicModel", "anthropic_model"]


@attrs.frozen
class AnthropicModel:
    """A model of ``run``: asks Anthropic's client, and gives the answer or its stream. Made by ``anthropic_model``."""

    client: Any = attrs.field(repr=False)
    name: str
    stream: bool
    max_tokens: int | None  # where the prompt's config doesn't say how long the answer may be
    conversion: Mapping[str, Any]
    options: Mapping[str, Any]

    def __call__(self, rendered: Rendered) -> Any:
        """Ask for an answer: with an async client something to await, else the answer itself."""
        asked: dict[str, Any] = {"model": self.name, "stream": self.stream, **self.options}
        conversion: dict[str, Any] = {"max_tokens": self.max_tokens, **self.conversion}
        request = asked | rendered.to_anthropic(**conversion)
        return answered(
            self.client.messages.create(**request), None if request["stream"] else output_from_anthropic
        )


def anthropic_model(
    client: Any,
    *,
    model: str,
    stream: bool = False,
    max_tokens: int | None = None,
    conversion: Mapping[str, Any] | None = None,
    **options: Any,
) -> AnthropicModel:
    """A model for ``run`` that asks ``client``, an ``anthropic.Anthropic`` or ``anthropic.AsyncAnthropic``.

    ``conversion`` are arguments of the prompt's ``to_anthropic``: ``{"cache": "auto"}``. ``options`` are further
    fields of the request, ``service_tier="auto"``; what the prompt's config says goes before them. How long the answer may
    be has to be said: by the prompt, ``config(max_response_tokens=...)``, or for prompts that don't by ``max_tokens``.

    Retries, timeouts and errors are the client's own. A synchronous client blocks the event loop while it waits.
    """
    return AnthropicModel(
        client=client,
        name=text("anthropic_model", "model", model),
        stream=truth("anthropic_model", "stream", stream),
        max_tokens=None
        if max_tokens is None
        else whole_number("anthropic_model", "max_tokens", max_tokens, least=1),
        conversion=dict(conversion or {}),
        options=options,
    )
