"""The examples of prompts, checked against what the prompts declare: what ``priompt test`` runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from priompt_py.errors import SourceError
from priompt_py.face.rendered import Rendered
from priompt_py.preview.checks import BudgetCheck
from priompt_py.preview.declared import declared
from priompt_py.preview.no_return import ON_RETURN
from priompt_py.preview.registry import RegisteredPrompt, described, is_template, registered_as

__all__ = ["Case", "cases_of", "checked_case"]


@attrs.frozen(eq=False)
class Case:
    """One example of a prompt. ``place`` is where the prompt stands, ``name`` is the example's; the props are in their
    JSON form. ``props`` is None for a prompt that needs props and has no examples."""

    place: str
    name: str
    entry: RegisteredPrompt
    props: Mapping[str, Any] | None


def cases_of(place: str, prompt: Any) -> Iterator[Case]:
    """The examples of a prompt: those of its front matter or its attribute ``examples``, and the kept dumps.

    Without any, the prompt without props, if it needs none. Raises ArgumentTypeError for examples that are no props.
    """
    entry = prompt if isinstance(prompt, RegisteredPrompt) else registered_as(prompt) or described(prompt)
    examples = dict(declared(entry if entry.id else prompt).examples)
    for dump in entry.dumps() if entry.id else ():
        if dump.is_example and dump.name not in examples:
            examples[dump.name] = entry.read(dump.name)
    for name, props in examples.items():
        yield Case(place, name, entry, props)
    if not examples:
        yield Case(place, "", entry, None if needs_props(entry) else {})


def needs_props(entry: RegisteredPrompt) -> bool:
    """Whether a prompt can't be called without props."""
    if is_template(entry.original):
        props = entry.original.front_matter.props
        return props is not None and any(prop.required and prop.name != ON_RETURN for prop in props)
    kinds = (_POSITIONAL, _NAMED)
    parameters = list(entry.recorder.signature.parameters.values())[1 if entry.takes_children else 0 :]
    return any(
        each.default is each.empty and each.kind.name in kinds and each.name != ON_RETURN
        for each in parameters
    )


_POSITIONAL, _NAMED = "POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"


def checked_case(case: Case, token_limit: int | None = None) -> dict[int, Rendered | None]:
    """Check an example at the limits that its prompt declares, or at one limit.

    Gives what each limit gave. Raises BudgetError, and what the prompt's own code raises.
    """
    if case.props is None:
        raise SourceError("it needs props, and has no examples")
    prompt = case.entry if case.entry.id else case.entry.original
    props = case.entry.typed(case.entry.hydrated(case.props))
    return BudgetCheck(prompt, props).run(token_limit)
