"""Renderers, tokenizers and prompts that are broken on purpose, each in one way, and healthy ones beside them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from priompt_py import Node, PromptTooLong, Rendered, render, scope, user_message
from priompt_py.model.elements import Container
from priompt_py.model.prompt import TextPart
from priompt_py.model.source_map import SourceMap
from priompt_py.testing import CharTokenizer
from priompt_py.tokens.safe_cuts import ANYWHERE, SafeCuts

Renderer = Callable[..., Rendered]

right: Renderer = render


def changed(rendered: Rendered, **changes: Any) -> Rendered:
    """The same render with another outcome."""
    return Rendered(
        outcome=attrs.evolve(rendered._outcome, **changes),
        tokenizer=rendered._tokenizer,
        chat_format=rendered._chat_format,
        decide=lambda: rendered.decisions,
        spans=None if rendered._spans is None else lambda: spans_of(rendered),
    )


def spans_of(rendered: Rendered) -> SourceMap:
    assert rendered.source_map is not None
    return rendered.source_map


def with_spans(rendered: Rendered, change: Callable[[SourceMap], SourceMap]) -> Rendered:
    made = changed(rendered)
    if rendered.source_map is None:
        return made
    found = change(rendered.source_map)
    return Rendered(
        outcome=rendered._outcome,
        tokenizer=rendered._tokenizer,
        chat_format=rendered._chat_format,
        decide=lambda: rendered.decisions,
        spans=lambda: found,
    )


# ------------------------------------------------------------------------------------------ renderers


def over_the_limit(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    return changed(right(node, token_limit=token_limit + 1, **how), token_limit=token_limit)


def forgets_what_is_reserved(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    whole = right(node, token_limit=10**6, **how | {"callbacks": False})
    found = right(node, token_limit=token_limit + whole.tokens_reserved, **how)
    return changed(found, token_limit=token_limit)


def says_another_limit(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    return changed(right(node, token_limit=token_limit, **how), token_limit=token_limit + 1)


def counts_one_less(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how)
    return changed(found, token_count=max(0, found.token_count - 1))


def refuses_what_fits(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    try:
        return changed(right(node, token_limit=max(0, token_limit - 1), **how), token_limit=token_limit)
    except PromptTooLong as error:
        raise PromptTooLong(
            token_count=error.token_count,
            tokens_reserved=error.tokens_reserved,
            token_limit=token_limit,
            required_limit=error.required_limit,
        ) from None


def tells_a_wrong_smallest_limit(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    try:
        return right(node, token_limit=token_limit, **how)
    except PromptTooLong as error:
        raise PromptTooLong(
            token_count=error.token_count,
            tokens_reserved=error.tokens_reserved,
            token_limit=token_limit,
            required_limit=error.required_limit and error.required_limit + 5,
        ) from None


def stops_a_level_too_high(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how | {"callbacks": False})
    whole = found.token_count + found.tokens_reserved
    try:
        other = right(node, token_limit=max(0, whole - 1), **how)
    except PromptTooLong:
        return right(node, token_limit=token_limit, **how)
    return changed(other, token_limit=token_limit)


def is_another_the_second_time() -> Renderer:
    number = itertools.count()

    def renderer(node: Node, *, token_limit: int, **how: Any) -> Rendered:
        found = right(node, token_limit=token_limit, **how)
        return changed(found, tokens_reserved=found.tokens_reserved + next(number) % 2)

    return renderer


def writes_into_the_tree(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how)
    tree: Any = node
    for child in tree:
        if isinstance(child, Container) and child.p is None and child.prel is None:
            child.p = 10**9 + len(child.key or "")
        elif isinstance(child, Container) and child.p is not None:
            child.p = child.p + 1
    return found


def calls_twice(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    if how.get("callbacks"):
        right(node, token_limit=token_limit, **how)
    return right(node, token_limit=token_limit, **how)


def calls_none(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    return right(node, token_limit=token_limit, **how | {"callbacks": False})


def calls_in_previews(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    return right(node, token_limit=token_limit, **how | {"callbacks": True})


def calls_during_the_search(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    if how.get("callbacks"):
        right(node, token_limit=10**6, **how)
    return right(node, token_limit=token_limit, **how)


def shifts_spans(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    def shifted(found: SourceMap) -> SourceMap:
        kids = tuple(attrs.evolve(kid, start=kid.start + 1, end=kid.end + 1) for kid in found.root.children)
        return attrs.evolve(found, root=attrs.evolve(found.root, children=kids))

    return with_spans(right(node, token_limit=token_limit, **how), shifted)


def loses_a_span(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    def without_last(found: SourceMap) -> SourceMap:
        return attrs.evolve(found, root=attrs.evolve(found.root, children=found.root.children[:-1]))

    return with_spans(right(node, token_limit=token_limit, **how), without_last)


def makes_no_source_map(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    return right(node, token_limit=token_limit, **how | {"source_map": False})


def drops_results(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how)
    if found.messages is None:
        return found
    return changed(found, messages=tuple(m for m in found.messages if m.role != "tool"))


def drops_calls(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how)
    if found.messages is None:
        return found
    return changed(found, messages=tuple(attrs.evolve(m, tool_calls=()) for m in found.messages))


def loses_at_a_higher_limit(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    """Where much fits, the renderer keeps only what must be in."""
    if token_limit % 2 == 0:
        return right(node, token_limit=token_limit, **how)
    try:
        right(node, token_limit=token_limit, **how | {"callbacks": False})
        needed = next(limit for limit in range(token_limit + 1) if _fits(node, limit, how))
        return changed(right(node, token_limit=needed, **how), token_limit=token_limit)
    except PromptTooLong:
        return right(node, token_limit=token_limit, **how)


def _fits(node: Node, limit: int, how: dict[str, Any]) -> bool:
    try:
        right(node, token_limit=limit, **how | {"callbacks": False})
    except PromptTooLong:
        return False
    return True


def strips_text(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how)
    if found.text is None:
        return found
    assert found._outcome.text is not None
    text = TextPart(found.text.replace("a", "b"), found._outcome.text.breaks)
    made = changed(found, text=text)
    return (
        made
        if found.source_map is None
        else with_spans(made, lambda spans: attrs.evolve(spans, text=text.text))
    )


def reverses_messages(node: Node, *, token_limit: int, **how: Any) -> Rendered:
    found = right(node, token_limit=token_limit, **how)
    if found.messages is None or any(m.tool_calls for m in found.messages):
        return found
    return changed(found, messages=found.messages[::-1])


RENDERERS: dict[str, tuple[Callable[[], Renderer], set[str]]] = {
    "over the limit": (lambda: over_the_limit, {"within", "refusal"}),
    "forgets what is reserved": (lambda: forgets_what_is_reserved, {"within", "refusal"}),
    "says another limit": (lambda: says_another_limit, {"within"}),
    "counts one less": (lambda: counts_one_less, {"count", "definition"}),
    "refuses what fits": (lambda: refuses_what_fits, {"refusal", "within"}),
    "tells a wrong smallest limit": (lambda: tells_a_wrong_smallest_limit, {"refusal"}),
    "stops a level too high": (lambda: stops_a_level_too_high, {"smallest"}),
    "is another the second time": (is_another_the_second_time, {"twice", "within"}),
    "writes into the tree": (lambda: writes_into_the_tree, {"tree", "twice"}),
    "calls twice": (lambda: calls_twice, {"callbacks"}),
    "calls none": (lambda: calls_none, {"callbacks"}),
    "calls in previews": (lambda: calls_in_previews, {"twice", "refusal"}),
    "calls during the search": (lambda: calls_during_the_search, {"callbacks", "refusal"}),
    "shifts spans": (lambda: shifts_spans, {"source map"}),
    "loses a span": (lambda: loses_a_span, {"source map"}),
    "makes no source map": (lambda: makes_no_source_map, {"source map"}),
    "drops results": (lambda: drops_results, {"pairs"}),
    "drops calls": (lambda: drops_calls, {"pairs"}),
    "loses at a higher limit": (lambda: loses_at_a_higher_limit, {"growth", "smallest"}),
    "strips text": (lambda: strips_text, {"definition", "count"}),
    "reverses messages": (lambda: reverses_messages, {"definition", "source map"}),
}
"""Renderers by what is wrong with them, with the properties that may be found to be broken."""


# ------------------------------------------------------------------------------------------ tokenizers


@attrs.frozen
class Encodes(CharTokenizer):
    """Has one id more than it counts."""

    def encode(self, text: str, /) -> list[int]:
        return [*super().encode(text), 0]


@attrs.define
class Wavers:
    """Counts another number each time."""

    name: str = "wavers"
    number: Iterator[int] = attrs.field(factory=itertools.count, repr=False)

    def count(self, text: str, /) -> int:
        return len(text) + next(self.number) % 3

    def encode(self, text: str, /) -> list[int]:
        return [0] * self.count(text)

    def decode(self, ids: Any, /) -> str:
        return ""


@attrs.define
class Lies:
    """Says that its counts add up anywhere, and they don't: every text is one token."""

    name: str = "lies"
    safe_cuts: SafeCuts = attrs.field(default=ANYWHERE, repr=False)

    def count(self, text: str, /) -> int:
        return bool(text) + 0

    def encode(self, text: str, /) -> list[int]:
        return [0] * self.count(text)

    def decode(self, ids: Any, /) -> str:
        return ""


TOKENIZERS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "encodes more than it counts": (Encodes, {"count"}),
    "wavers": (Wavers, {"count", "twice", "smallest", "definition", "refusal", "growth"}),
    "lies about safe cuts": (Lies, {"count", "smallest", "definition", "refusal"}),
}


# ------------------------------------------------------------------------------------------ prompts


def changes_its_props(turns: list[str]) -> Node:
    turns.append("and now?")
    return list(turns)


def counts_its_calls() -> Callable[..., Node]:
    number = itertools.count()

    def numbered(question: str) -> Node:
        return [f"Question {next(number)}: ", question]

    return numbered


def loses_the_question(question: str, page: str) -> Node:
    return [user_message(p=2, key="page")[page], scope(p=1, name="question")[user_message[question]]]


def misspells(question: str) -> Node:
    return user_message(key="qestion")[question]


def outgrows(question: str) -> Node:
    return ["x" * 60, question]


PROMPTS: dict[str, tuple[Callable[[], Callable[..., Node]], dict[str, Any], str]] = {
    "changes its props": (lambda: changes_its_props, {}, "props"),
    "counts its calls": (counts_its_calls, {}, "same"),
    "loses the question": (lambda: loses_the_question, {"must_keep": ["question"]}, "kept"),
    "misspells a label": (lambda: misspells, {"must_keep": ["question"]}, "kept"),
    "outgrows its limit": (lambda: outgrows, {"limits": [50, 100]}, "fits"),
}
"""Prompts by what is wrong with them, arguments of ``budget_test``, and the property that is broken."""
