"""OpenAI's official client as the model of a run: chat completions and Responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

from priompt_py.author.checks import choice, text, truth
from priompt_py.face.rendered import Rendered
from priompt_py.model.model_output import ModelOutput
from priompt_py.providers.answers import output_from_openai, output_from_openai_responses
from priompt_py.runtime.answering import answered

__all__ = ["OpenAIModel", "openai_model"]


@attrs.frozen
class OpenAIModel:
    """A model of ``run``: asks OpenAI's client, and gives the answer or its stream. Made by ``openai_model``."""

    client: Any = attrs.field(repr=False)
    name: str
    api: Literal["chat", "responses"]
    stream: bool
    conversion: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def max_tokens(self) -> int | None:
        """What the answer may take where the prompt's config doesn't say, as it stands among the options."""
        names = ("max_completion_tokens", "max_tokens", "max_output_tokens")
        return next((self.options[name] for name in names if type(self.options.get(name)) is int), None)

    def __call__(self, rendered: Rendered) -> Any:
        """Ask for an answer: with an async client something to await, else the answer itself."""
        asked: dict[str, Any] = {"model": self.name, "stream": self.stream, **self.options}
        read: Callable[[Any], ModelOutput]
        if self.api == "chat":
            request = asked | rendered.to_openai(**self.conversion)
            if request["stream"]:
                request.setdefault("stream_options", {"include_usage": True})
            create, read = self.client.chat.completions.create, output_from_openai
        else:
            request = asked | rendered.to_openai_responses(**self.conversion)
            create, read = self.client.responses.create, output_from_openai_responses
        return answered(create(**request), None if request["stream"] else read)


def openai_model(
    client: Any,
    *,
    model: str,
    api: Literal["chat", "responses"] = "chat",
    stream: bool = False,
    conversion: Mapping[str, Any] | None = None,
    **options: Any,
) -> OpenAIModel:
    """A model for ``run`` that asks ``client``, an ``openai.OpenAI`` or ``openai.AsyncOpenAI``.

    ``api`` is ``"chat"`` for chat completions or ``"responses"``. ``conversion`` are arguments of the prompt's
    ``to_openai`` or ``to_openai_responses``: ``{"max_tokens_key": "max_tokens"}``. ``options`` are further fields of
    the request, ``temperature=0``; what the prompt's config says goes before them. Streams ask for the usage at
    their end, unless ``stream_options`` is given (None for servers that don't know it).

    Retries, timeouts and errors are the client's own. A synchronous client blocks the event loop while it waits.
    """
    return OpenAIModel(
        client=client,
        name=text("openai_model", "model", model),
        api=choice("openai_model", "api", api, ("chat", "responses")),
        stream=truth("openai_model", "stream", stream),
        conversion=dict(conversion or {}),
        options=options,
    )
