"""Every error that this package raises on purpose.

::

    PromptError                     anything that is wrong with a prompt or a call
    ├── PromptTooLong               no level of the prompt fits its limit
    ├── StructureError              elements stand where they may not
    ├── ArgumentTypeError           an argument or child of the wrong type (also a TypeError)
    ├── ArgumentValueError          an argument of the right type, wrong value (also a ValueError)
    ├── TokenizerError              a tokenizer or model that can't be had (also a ValueError)
    ├── JsonFormError               a JSON tree that is not a prompt (also a ValueError)
    ├── ProviderError               a request that the provider can't hold
    ├── SourceError                 a prompt source (file, module, props) that can't be loaded
    └── TemplateError               a template that can't be evaluated
        └── TemplateSyntaxError     a template that can't be parsed

Errors that a prompt's own code raises (components, callbacks, ``empty(tokens=function)``) are
not wrapped: they reach the caller as they are, with the path of the element as a note.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "JsonFormError",
    "PromptError",
    "PromptTooLong",
    "ProviderError",
    "SourceError",
    "StructureError",
    "TemplateError",
    "TemplateSyntaxError",
    "TokenizerError",
]


class PromptError(Exception):
    """Base of all errors of this package."""


class ArgumentTypeError(PromptError, TypeError):
    """An argument, a child or a limit has a type that is not accepted there."""


class ArgumentValueError(PromptError, ValueError):
    """An argument has the right type and a value that is not accepted."""


class StructureError(PromptError):
    """Elements stand where they may not: found before any search, whatever the limit is."""


class TokenizerError(PromptError, ValueError):
    """A tokenizer, a model name or a vocabulary can't be had as asked."""


class JsonFormError(PromptError, ValueError):
    """JSON data that is not a prompt tree; the message begins with the JSON path."""


class ProviderError(PromptError):
    """A rendered prompt holds something that the asked provider's requests can't hold."""


class SourceError(PromptError):
    """A prompt source, its props or its options can't be loaded."""


class TemplateError(PromptError):
    """A template can't be evaluated."""


class TemplateSyntaxError(TemplateError):
    """A template can't be parsed."""


class PromptTooLong(PromptError):
    """No level of the prompt fits the limit: what must be in is too long.

    All figures are tokens. ``token_count`` is the count of the level that needs least, without
    ``tokens_reserved``; ``required_limit`` is the smallest limit that would work (``None`` where
    limits are relative, since it then moves with the limit); ``largest`` names the largest parts
    that are always in, as pairs of path and tokens, largest first; ``element`` is the path of the
    isolate or max whose own limit is too small, ``None`` for the prompt itself.
    """

    def __init__(
        self,
        *,
        token_count: int,
        tokens_reserved: int,
        token_limit: int,
        required_limit: int | None,
        largest: Sequence[tuple[str, int]] = (),
        element: str | None = None,
    ) -> None:
        self.token_count = token_count
        self.tokens_reserved = tokens_reserved
        self.token_limit = token_limit
        self.required_limit = required_limit
        self.largest = tuple(largest)
        self.element = element
        super().__init__(self._message())

    def _message(self) -> str:
        what = "the prompt" if self.element is None else self.element
        needs = f"{what} needs {_tokens(self.token_count)}"
        if self.tokens_reserved:
            needs += f" and reserves {self.tokens_reserved}"
        message = f"{needs}, over its limit of {self.token_limit}"
        if self.required_limit is not None:
            message += f"; the smallest limit that works is {self.required_limit}"
        if self.largest:
            parts = ", ".join(f"{path} ({_tokens(tokens)})" for path, tokens in self.largest)
            message += f"; the largest parts that are always in: {parts}"
        return message

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "token_count": self.token_count,
            "tokens_reserved": self.tokens_reserved,
            "token_limit": self.token_limit,
            "required_limit": self.required_limit,
            "largest": self.largest,
            "element": self.element,
        }
        return (_rebuild_too_long, (state,))


def _rebuild_too_long(state: dict[str, object]) -> PromptTooLong:
    return PromptTooLong(**state)  # type: ignore[arg-type]


def _tokens(number: int) -> str:
    return f"{number} token" if number == 1 else f"{number} tokens"
