"""What a prompt says about itself: its limits, what it must keep, its tokenizer, examples of its props."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError
from priompt_py.face.settings import check_limit
from priompt_py.model.elements import Element
from priompt_py.preview.registry import RegisteredPrompt, registered_as

__all__ = ["Declared", "declared", "inner_prompt"]


@attrs.frozen
class Declared:
    """``token_limits`` are tokens, ascending; ``examples`` are props by the example's name."""

    token_limits: tuple[int, ...] = ()
    must_keep: tuple[str, ...] = ()
    tokenizer: str | None = None
    examples: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict[str, Any])


def declared(prompt: Any) -> Declared:
    """What is declared in a template's front matter, by ``@prompt(...)``, or in attributes of a function.

    The attributes are called as in front matter: ``token_limit``, ``limits``, ``must_keep``, ``examples``, ``tokenizer``.
    Raises ArgumentTypeError for one of them that is of the wrong kind.
    """
    inner = inner_prompt(prompt)
    if isinstance(inner, Element) or not callable(inner):
        return Declared()
    entry = prompt if isinstance(prompt, RegisteredPrompt) else registered_as(prompt)
    outer = prompt if entry is None else entry.function
    front = getattr(inner, "front_matter", None)

    def said(name: str, kind: type[Any], default: Any) -> Any:
        for owner in (outer, inner, front):
            value = getattr(owner, name, None)
            if value is not None and (owner is not front or value):
                if not isinstance(value, kind) or isinstance(value, (str, bool)) != (kind is str):
                    raise _refused(name, outer, value)
                return value
        return default

    own = entry.token_limit if entry is not None else None
    if own is None:
        own = said("token_limit", int, None)
    limits = [*said("limits", Sequence, ()), *([] if own is None else [own])]
    labels = tuple(said("must_keep", Sequence, ()))
    if not all(isinstance(label, str) for label in labels):
        raise _refused("must_keep", outer, labels)
    examples = dict(said("examples", Mapping, {}))
    if not all(isinstance(key, str) and isinstance(props, Mapping) for key, props in examples.items()):
        raise _refused("examples", outer, examples)
    return Declared(
        tuple(sorted({check_limit(limit) for limit in limits})),
        labels,
        said("tokenizer", str, None),
        examples,
    )


_NEEDED = {
    "token_limit": "a whole number of tokens",
    "limits": "a list of whole numbers of tokens",
    "must_keep": 'a list of labels, as in ["question"]',
    "tokenizer": "the name of a tokenizer",
    "examples": 'props by the name of the example, as in {"short": {"question": "Why?"}}',
}


def _refused(name: str, owner: Any, value: object) -> ArgumentTypeError:
    called = getattr(owner, "__name__", None)
    where = called if isinstance(called, str) else type(owner).__name__
    return ArgumentTypeError(f"{where}.{name} needs {_NEEDED[name]}, got {got(value)}")


def inner_prompt(prompt: Any) -> Any:
    """A registered prompt without what writes its dumps; any other one as it is."""
    if isinstance(prompt, RegisteredPrompt):
        return prompt.original
    entry = registered_as(prompt)
    return prompt if entry is None else entry.original
