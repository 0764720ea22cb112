"""What a prompt becomes as its limit falls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import Node
from priompt_py.preview.settle import made, settled
from priompt_py.preview.trial import Renderer, Trial
from priompt_py.tokens.tokenizer import get_tokenizer

__all__ = ["NO_LIMIT", "dropped_order", "edges", "squeeze", "steps", "trial_of"]

NO_LIMIT = 10**9
"""A limit in tokens under which every prompt has all that it can have."""

_MOST_EDGES = 12  # sizes that checks look around where no limits were asked for


def squeeze(node: Node, **how: Any) -> Iterator[Rendered]:
    """Each distinct prompt that ``node`` can become, from the whole one down, as the limit falls to 0.

    ``how`` are the arguments of ``render`` besides the limit. What is async is run; no callbacks are called. The
    ``token_limit`` of each is the smallest under which it is rendered. Where limits in the tree are shares of the whole
    one, every limit is tried, and ``token_limit`` is the largest one.
    """
    return steps(trial_of(node, how))


def dropped_order(node: Node, **how: Any) -> list[str]:
    """The labels of ``node`` (a scope's name, an element's key) in the order in which they go as the limit falls.

    Those that go at once stand in document order; what never goes is not in it. A label that several elements have goes
    with the last of them.
    """
    order: list[str] = []
    before: set[str] = set()
    for rendered in squeeze(node, **how):
        labels = [(d.label, d.included) for d in rendered.decisions if d.label is not None]
        now = {label for label, included in labels if included}
        order += [label for label in dict.fromkeys(label for label, _ in labels) if label in before - now]
        before = now
    return order


def trial_of(node: Node, how: Mapping[str, Any]) -> Trial:
    """A node that is to be rendered often."""
    return Trial(settled(made(node, {}), counter(how)), _program(), how)


def counter(how: Mapping[str, Any]) -> Any:
    """What counts the tokens of a text under these arguments of ``render``."""
    return get_tokenizer(how.get("tokenizer") or how.get("model") or "o200k_base").count


def _program() -> Renderer:
    """Renders one tree, again and again: compiled the first time."""
    from priompt_py.face.program import Program
    from priompt_py.face.render import compile_prompt

    programs: list[Program] = []

    def renderer(node: Node, *, token_limit: int, **how: Any) -> Rendered:
        if not programs:
            programs.append(compile_prompt(node))
        return programs[0].render(token_limit=token_limit, **how)

    return renderer


def steps(trial: Trial) -> Iterator[Rendered]:
    """The distinct prompts of a trial."""
    last: Rendered | None = None
    limit = _first_limit(trial)
    while limit >= 0:
        found = trial.at(limit, callbacks=False).rendered
        if found is None:
            return
        if not trial.tree.is_relative:  # what fits the limit and no less is the same
            limit = found.token_count + found.tokens_reserved
            found = trial.at(limit, callbacks=False).rendered or found
        if last is None or not _same(last, found):
            yield found
        last = found
        limit -= 1


def _first_limit(trial: Trial) -> int:
    """A limit under which the prompt has all that it can have; not far above its size, where limits are shares of it."""
    whole = trial.at(NO_LIMIT, callbacks=False).rendered
    if whole is None or not trial.tree.is_relative:
        return NO_LIMIT
    limit = max(1, whole.token_count + whole.tokens_reserved)
    while limit < NO_LIMIT:
        found = trial.at(limit, callbacks=False).rendered
        if found is not None and _same(found, whole):
            break
        limit *= 2
    return limit


def _same(one: Rendered, other: Rendered) -> bool:
    return (one.text, one.messages, one.tools, one.tokens_reserved, one.config) == (
        other.text,
        other.messages,
        other.tools,
        other.tokens_reserved,
        other.config,
    ) and [d.included for d in one.decisions] == [d.included for d in other.decisions]


def edges(trial: Trial, least: int = 0, most: int = NO_LIMIT) -> list[int]:
    """Limits where a prompt becomes another one: some of its sizes, one below and one above each; ascending.

    ``least`` and ``most`` are the smallest and the largest limit that may be among them, inclusive.
    """
    top = trial.at(most, callbacks=False)
    if top.error is not None:
        needed = top.error.required_limit
        return sorted({least, most} if needed is None else {least, min(most, max(least, needed - 1))})
    assert top.rendered is not None
    bottom = trial.at(least, callbacks=False).error
    low = least if bottom is None or bottom.required_limit is None else bottom.required_limit
    high = min(most, top.rendered.token_count + top.rendered.tokens_reserved)
    sizes = {low, high}
    for step in range(1, _MOST_EDGES):
        found = trial.at(low + (high - low) * step // _MOST_EDGES, callbacks=False).rendered
        if found is not None:
            sizes.add(found.token_count + found.tokens_reserved)
    around = {size + step for size in sizes for step in (-1, 0, 1)}
    return sorted(limit for limit in {least, *around} if least <= limit <= most)
