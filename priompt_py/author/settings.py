"""What travels with a prompt: settings for the request, and handlers for the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from priompt_py.author.calls import explained
from priompt_py.author.checks import (
    callable_or_none,
    choice,
    got,
    one_of_priorities,
    text,
    text_or_none,
    whole_number,
    wrong_type,
    wrong_value,
)
from priompt_py.author.children import clean_text, is_list, is_mapping
from priompt_py.author.json_values import json_argument
from priompt_py.errors import ArgumentValueError
from priompt_py.model.delta import Delta
from priompt_py.model.elements import Capture, Config, Number
from priompt_py.model.model_output import ModelOutput

__all__ = ["Callback", "capture", "config"]

Callback: TypeAlias = Callable[..., object]


@explained("capture", takes_children=False)
def capture(
    *,
    on_output: Callable[[ModelOutput], object] | None = None,
    on_stream: Callable[[AsyncIterator[Delta]], object] | None = None,
    on_stream_response: Callable[[AsyncIterator[Any]], object] | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> Capture:
    """Handlers for the model's answer to the prompt; at least one is needed.

    ``on_output(output)`` gets the whole answer, ``on_stream(stream)`` an async iterator of Deltas,
    ``on_stream_response(stream)`` one of the provider's own pieces. Those of streams are async functions.
    """
    one_of_priorities("capture", p, prel)
    if on_output is None and on_stream is None and on_stream_response is None:
        raise ArgumentValueError("capture() needs on_output, on_stream or on_stream_response")
    return Capture(
        on_output=callable_or_none("capture", "on_output", on_output),
        on_stream=callable_or_none("capture", "on_stream", on_stream),
        on_stream_response=callable_or_none("capture", "on_stream_response", on_stream_response),
        p=p,
        prel=prel,
        key=text_or_none("capture", "key", key),
    )


_MOST_STOPS = 4  # OpenAI's published limit for chat completions


@explained("config", takes_children=False)
def config(
    *,
    stop: str | Sequence[str] | None = None,
    max_response_tokens: int | Literal["tokens_reserved", "tokens_remaining"] | None = None,
    extra: Mapping[str, Any] | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> Config:
    """Request settings. Several configs merge per key: the first included one wins.

    ``stop`` is one text or at most 4; ``max_response_tokens`` an int > 0, ``"tokens_reserved"``
    or ``"tokens_remaining"``; ``extra`` is merged into requests unseen (its lists and dicts are
    copied, what else is in it stays as it is).
    """
    one_of_priorities("config", p, prel)
    return Config(
        stop=_stop(stop),
        max_response_tokens=_response_tokens(max_response_tokens),
        extra=_extra(extra),
        p=p,
        prel=prel,
        key=text_or_none("config", "key", key),
    )


def _stop(stop: object) -> str | tuple[str, ...] | None:
    if stop is None:
        return None
    if isinstance(stop, str):
        return clean_text(stop)
    if not is_list(stop):
        raise wrong_type("stop", f"config() needs text or a list of texts for stop, got stop={got(stop)}")
    stops = tuple(text("config", f"stop[{i}]", one) for i, one in enumerate(stop))
    if len(stops) > _MOST_STOPS:
        raise wrong_value("stop", f"config() takes at most {_MOST_STOPS} stop texts, got {len(stops)}")
    return stops


def _response_tokens(value: object) -> Any:
    if value is None:
        return None
    if isinstance(value, str):
        return choice("config", "max_response_tokens", value, ("tokens_reserved", "tokens_remaining"))
    if type(value) is int:
        return whole_number("config", "max_response_tokens", value, least=1)
    raise wrong_type(
        "max_response_tokens",
        "config() needs a whole number, 'tokens_reserved' or 'tokens_remaining' for max_response_tokens, "
        f"got max_response_tokens={got(value)}",
    )


def _extra(extra: object) -> dict[str, Any] | None:
    if extra is None:
        return None
    if not is_mapping(extra):
        raise wrong_type("extra", f"config() needs a mapping for extra, got extra={got(extra)}")
    plain = {text("config", "a key of extra", name): value for name, value in extra.items()}
    copied: dict[str, Any] = json_argument("config", "extra", plain, strict=False)
    return copied
