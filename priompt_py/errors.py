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
    ├── ModelOutputError            a model's answer that can't be read (also a ValueError)
    ├── RunError                    a prompt was run, and there is no result to give
    │   └── ModelError              the model's provider broke off its answer
    ├── DocumentError               a file that can't be read as text (also a ValueError)
    ├── KnowledgeBaseError          a knowledge base that can't be opened, read or written
    ├── EmbedderError               no vectors that can be searched by came from an embedder
    ├── SourceError                 a prompt source (file, module, props) that can't be loaded
    ├── BudgetError                 a prompt breaks what a check of its budget promises (also an AssertionError)
    └── TemplateError               a template that can't be evaluated
        └── TemplateSyntaxError     a template that can't be parsed

Errors that a prompt's own code raises (components, callbacks, ``empty(tokens=function)``) are
not wrapped: they reach the caller as they are, with the path of the element as a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "BudgetError",
    "EmbedderError",
    "JsonFormError",
    "KnowledgeBaseError",
    "ModelError",
    "ModelOutputError",
    "PromptError",
    "PromptTooLong",
    "ProviderError",
    "RunError",
    "SourceError",
    "StructureError",
    "TemplateError",
    "TemplateSyntaxError",
    "TokenizerError",
]


class PromptError(Exception):
    """Base of all errors of this package."""


class ArgumentTypeError(PromptError, TypeError):
    """An argument, a child or a limit has a type that is not accepted there.

    ``argument`` names the argument of an element, where it is one.
    """

    argument: str | None = None


class ArgumentValueError(PromptError, ValueError):
    """An argument has the right type and a value that is not accepted.

    ``argument`` names the argument of an element, where it is one.
    """

    argument: str | None = None


class StructureError(PromptError):
    """Elements stand where they may not: found before any search, whatever the limit is."""


class TokenizerError(PromptError, ValueError):
    """A tokenizer, a model name or a vocabulary can't be had as asked."""


class JsonFormError(PromptError, ValueError):
    """JSON data that is not a prompt tree; the message begins with the place.

    ``path`` is its JSON path (``$[2].children[0].p``), or ``line`` and ``column`` (from 1) are where the
    text is no JSON; what does not apply is None.
    """

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.column = column


class ProviderError(PromptError):
    """A rendered prompt holds something that the asked provider's requests can't hold."""


class ModelOutputError(PromptError, ValueError):
    """A model's answer, or the arguments of a call in it, can't be read."""


class RunError(PromptError):
    """A prompt was run with a model, and there is no result to give.

    No handler returned a value, a handler stands still, or the model's function gave what is no answer.
    """


class ModelError(RunError):
    """The model's provider reported a failure in the middle of its answer.

    ``output`` is the answer so far, a ModelOutput.
    """

    def __init__(self, message: str, *, output: Any = None) -> None:
        super().__init__(message)
        self.output = output


class DocumentError(PromptError, ValueError):
    """A file can't be read as text, or would take more than it may.

    ``file`` is its name. ``reason`` is ``too-large``, ``unsupported``, ``archive`` (one that is made to harm),
    ``encoding``, ``password``, ``broken``, ``memory``, ``time``, or ``library`` (one that isn't installed); ``detail``
    is the sentence without the name.
    """

    def __init__(self, file: str, reason: str, detail: str) -> None:
        super().__init__(file, reason, detail)
        self.file = file
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.file}: {self.detail}"


class KnowledgeBaseError(PromptError):
    """A knowledge base can't be opened, read or written; what it holds is as it was before the call.

    ``place`` is its file or address (without a password). ``reason`` is ``missing`` (there is none), ``locked`` (another
    process has kept it too long), ``full`` (no room on the disk), ``access`` (not allowed, or not reachable),
    ``broken`` (no database, or not one of ours), ``settings`` (it was made with others), ``closed``, or ``library`` (one
    that isn't installed); ``detail`` is the sentence without the place.
    """

    def __init__(self, place: str, reason: str, detail: str) -> None:
        super().__init__(place, reason, detail)
        self.place = place
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.place}: {self.detail}"


class EmbedderError(PromptError):
    """No vectors that can be searched by came from an embedder.

    ``embedder`` is its name. ``reason`` is ``unreachable``, ``timeout``, ``status`` (the server refused), ``answer``
    (not what an embedder answers), ``count`` (not a vector for each text), ``size`` (vectors of another length),
    ``not-finite`` (NaN or infinity), ``failed`` (it raised something), or ``library`` (one that isn't installed);
    ``detail`` is the sentence without the name.
    """

    def __init__(self, embedder: str, reason: str, detail: str) -> None:
        super().__init__(embedder, reason, detail)
        self.embedder = embedder
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.embedder}: {self.detail}"


class SourceError(PromptError):
    """A prompt source, its props or its options can't be loaded."""


class BudgetError(PromptError, AssertionError):
    """A prompt breaks what a check of its budget promises: see :func:`priompt_py.testing.check_budget`.

    ``broken`` is the property's name, ``token_limit`` the smallest limit at which it was found to be broken (None
    where it has nothing to do with limits), ``detail`` says how, ``call`` repeats the check, ``example`` is the
    smallest tree that shows it, as code (None where the prompt is to be looked at as it is).
    """

    def __init__(
        self,
        message: str,
        *,
        broken: str,
        token_limit: int | None = None,
        detail: str = "",
        call: str = "",
        example: str | None = None,
    ) -> None:
        super().__init__(message)
        self.broken = broken
        self.token_limit = token_limit
        self.detail = detail
        self.call = call
        self.example = example

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_budget_error, (str(self), dict(vars(self))))


class TemplateError(PromptError):
    """A template can't be evaluated.

    ``message`` is the sentence alone; ``file`` is the template's name, ``line`` and ``column`` (1-based, in code
    points) the place that is meant, ``source_line`` the text of that line. ``stack`` are the component calls that
    led there, outermost first, as triples of file, line and component. Text in place of a file has the name
    ``<template>``.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        source_line: str | None = None,
        stack: Sequence[tuple[str, int, str]] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.source_line = source_line
        self.stack = tuple(stack)

    def __str__(self) -> str:
        if self.line is None or self.column is None:
            return self.message if self.file is None else f"{self.file}: {self.message}"
        lines = [f"{self.file}:{self.line}:{self.column}: {self.message}"]
        if self.source_line is not None:
            lines += _pointed(self.source_line, self.column)
        if self.stack:
            calls = [f"{file}:{line} <{component}>" for file, line, component in self.stack]
            if len(calls) > _MOST_CALLS:
                calls[_MOST_CALLS // 2 : -_MOST_CALLS // 2] = [f"… {len(calls) - _MOST_CALLS} more …"]
            lines.append("  in " + " → ".join([*calls, f"{self.file}:{self.line}"]))
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        state = {name: value for name, value in vars(self).items() if name != "errors"}  # which hold this one
        return (_rebuild_template_error, (type(self), self.message, state))


class TemplateSyntaxError(TemplateError):
    """A template can't be parsed.

    ``errors`` are all that were found in the file, in order, the one at hand among them.
    """

    errors: tuple[TemplateSyntaxError, ...] = ()


_MOST_CALLS = 8  # that are shown
_WIDTH = 100  # characters of a source line that are shown


def _pointed(source_line: str, column: int) -> list[str]:
    """A line, cut to what is around ``column``, and a caret below it."""
    start = max(0, column - 1 - _WIDTH // 2) if len(source_line) > _WIDTH else 0
    shown = source_line[start : start + _WIDTH]
    shown = "".join(character if character.isprintable() or character == "\t" else " " for character in shown)
    before = shown[: column - 1 - start]
    pad = "".join("\t" if character == "\t" else " " for character in before)
    return [f"    {shown}", f"    {pad}^"]


def _rebuild_template_error(
    cls: type[TemplateError], message: str, state: dict[str, object]
) -> TemplateError:
    error = cls(message)
    vars(error).update(state)
    return error


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
            whose = (
                "smallest limit that works"
                if self.element is None
                else "smallest limit of its own that works"
            )
            message += f"; the {whose} is {self.required_limit}"
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


def _rebuild_budget_error(message: str, state: dict[str, Any]) -> BudgetError:
    error = BudgetError(message, broken="")
    vars(error).update(state)
    return error


def _rebuild_too_long(state: dict[str, Any]) -> PromptTooLong:
    return PromptTooLong(**state)


def _tokens(number: int) -> str:
    return f"{number} token" if number == 1 else f"{number} tokens"
