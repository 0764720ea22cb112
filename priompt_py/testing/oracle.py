"""The oracle: what rendering promises, written down as a program and tried at every level.

It is slow, recursive and plain on purpose, and shares no code with the engine: tests compare the two.
Components are called; async ones are not for it.
"""

from __future__ import annotations

import attrs

from priompt_py.errors import PromptTooLong
from priompt_py.model import elements as el
from priompt_py.model.prompt import ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.testing.oracle_count import Draft, Prices, as_message, as_text, draft, merged, texts_of
from priompt_py.testing.oracle_rules import check_structure, is_result, results_of
from priompt_py.testing.oracle_tree import Spot, build, message_of, spots
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.models import info_for_encoding, model_info
from priompt_py.tokens.tokenizer import chat_format_of, get_tokenizer

__all__ = [
    "Fate",
    "OracleResult",
    "Tree",
    "levels_of",
    "oracle_render",
    "prompt_at",
    "tree_of",
    "whole_count",
]

BASE = el.BASE_PRIORITY


@attrs.frozen
class Fate:
    """What becomes of one occurrence of an element; ``priority`` is the declared one."""

    element: el.Element
    path: str
    priority: el.Number
    included: bool


@attrs.frozen
class OracleResult:
    """What the definition says. ``counts[i]`` is the whole count at ``levels[i]``, reserves included.

    ``fates`` are those of all elements, in document order, one for each occurrence; ``texts`` are path and text of
    every text, rule, line break and mark of what an excerpt left out.
    """

    token_limit: int
    cutoff: el.Number
    levels: tuple[el.Number, ...]
    counts: tuple[int, ...]
    text: TextPart | None
    messages: tuple[ChatMessage, ...] | None
    tools: tuple[Tool, ...]
    token_count: int
    tokens_reserved: int
    config: PromptConfig
    fates: tuple[Fate, ...]
    texts: tuple[tuple[str, str], ...]


@attrs.frozen
class Tree:
    """A prompt, checked, with all that its count depends on."""

    root: Spot
    prices: Prices
    is_chat: bool
    incomplete: bool
    pair_tools: bool


def oracle_render(
    node: el.Node,
    *,
    token_limit: int,
    tokenizer: object = "o200k_base",
    model: str | None = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
) -> OracleResult:
    """Prompt(c*), with c* the smallest level whose prompt fits; raises PromptTooLong and StructureError."""
    tree = tree_of(
        node,
        token_limit=token_limit,
        tokenizer=tokenizer,
        model=model,
        chat_format=chat_format,
        last_message_incomplete=last_message_incomplete,
        pair_tools=pair_tools,
    )
    levels = levels_of(tree.root)
    counts = [whole_count(tree, level) for level in levels]
    fitting = [level for level, tokens in zip(levels, counts, strict=True) if tokens <= token_limit]
    if not fitting:
        raise _too_long(tree, tree.root, token_limit, levels, counts)
    inside = prompt_at(tree, fitting[0])
    final = draft(inside, tree.root)
    return OracleResult(
        token_limit=token_limit,
        cutoff=fitting[0],
        levels=tuple(levels),
        counts=tuple(counts),
        text=None if tree.is_chat else as_text(final.items),
        messages=tuple(map(as_message, final.messages)) if tree.is_chat else None,
        tools=tuple(final.tools),
        token_count=whole_count(tree, fitting[0]) - final.reserved,
        tokens_reserved=final.reserved,
        config=merged(final.configs),
        fates=tuple(
            Fate(spot.element, spot.path, spot.priority, is_in(spot, inside))
            for spot in spots(tree.root)
            if spot.element is not None and spot.kind == spot.element.kind
        ),
        texts=tuple(texts_of(inside, tree.root)),
    )


def tree_of(
    node: el.Node,
    *,
    token_limit: int,
    tokenizer: object = "o200k_base",
    model: str | None = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
) -> Tree:
    """The tree with its structure checked, its limits in tokens and its isolates rendered."""
    counter = get_tokenizer(tokenizer, model=model)
    root = build(node, counter.count)
    is_chat = check_structure(root, pair_tools=pair_tools)
    families = info_for_encoding(counter.name) if model is None else model_info(model)
    prices = Prices(counter, chat_format or chat_format_of(counter), families)
    tree = Tree(root, prices, is_chat, last_message_incomplete, pair_tools)
    _settle(tree, root, token_limit)
    missing = _required_but_over(root)
    if missing is not None:
        raise _own_limit(tree, missing)
    return tree


# ------------------------------------------------------------------------------------------ the prompt at a level


def levels_of(root: Spot) -> list[el.Number]:
    """The levels of a prompt, an isolate's content or a max, ascending."""
    below = [spot for child in root.children for spot in _outside_isolates(child)]
    return sorted({min(spot.priority, BASE) for spot in below if spot.ranked} | {BASE})


def _outside_isolates(spot: Spot) -> list[Spot]:
    inner = [] if spot.kind == "isolate" else spot.children
    return [spot, *(below for child in inner for below in _outside_isolates(child))]


def prompt_at(tree: Tree, c: el.Number) -> set[Spot]:
    """What is in at the cutoff ``c``: scopes and alternatives, then maxes, then tool units."""
    return closed(tree, taken(tree, tree.root, c), tree.root)


def whole_count(tree: Tree, c: el.Number) -> int:
    """What the prompt costs at the cutoff ``c``, reserves included."""
    made = draft(prompt_at(tree, c), tree.root)
    return tree.prices.cost(made) + tree.prices.chat(made, incomplete=tree.incomplete)


def taken(tree: Tree, spot: Spot, c: el.Number) -> set[Spot]:
    """What of ``spot`` is in at ``c``, before tool units are closed."""
    if spot.over or not reaches(spot, c):
        return set()
    if spot.kind == "isolate":
        return {spot, *spot.shown}
    if spot.kind == "max":
        return {spot} | _under_ceiling(tree, spot, c)
    return {spot} | _content(tree, spot, c)


def reaches(spot: Spot, c: el.Number) -> bool:
    """Whether a scope's priority reaches ``c``. What is no scope goes with its parent, also in a max, whose content may
    be taken at a higher level than that of the place where the max stands."""
    return not spot.ranked or spot.priority >= c


def _content(tree: Tree, spot: Spot, c: el.Number) -> set[Spot]:
    return {below for child in _chosen(spot, c) for below in taken(tree, child, c)}


def _chosen(spot: Spot, c: el.Number) -> list[Spot]:
    """The children that take part at ``c``: of a first, the first alternative that is eligible.

    An alternative without a priority of its own always is; a scope among them may be out all the same, in a max.
    """
    if spot.kind not in ("first", "alternatives"):
        return spot.children
    return [child for child in spot.children if not child.own or child.priority >= c][:1]


def _under_ceiling(tree: Tree, spot: Spot, c: el.Number) -> set[Spot]:
    """A max's content at the smallest level from ``c`` on at which it costs at most its ceiling."""
    for level in (level for level in levels_of(spot) if level >= c):
        if level not in spot.contents:  # found once: maxes within maxes would take for ever otherwise
            content = _content(tree, spot, level)
            spot.contents[level] = content, _cost_alone(tree, spot, content)
        content, cost = spot.contents[level]
        if cost <= spot.ceiling:
            return content
    raise AssertionError("a max that is in has content that fits")


def _cost_alone(tree: Tree, spot: Spot, content: set[Spot]) -> int:
    """What a max's content costs: frames and reserves too, but not the start of the answer."""
    return tree.prices.cost(draft({spot, *content}, spot))


def closed(tree: Tree, inside: set[Spot], root: Spot) -> set[Spot]:
    """``inside`` without the calls and results whose unit is not complete."""
    if not tree.pair_tools:
        return inside
    everything = list(spots(root))
    answered: set[Spot] = set()
    broken: list[Spot] = []
    for calls in (spot for spot in everything if spot.kind == "calls"):
        ids = [call.id for call in message_of(calls).tool_calls]
        answers = [[r for r in results_of(calls, each, everything) if r in inside] for each in ids]
        if calls in inside and all(len(found) == 1 for found in answers):
            answered.update(found[0] for found in answers)
        else:
            broken.append(calls)
    orphans = [spot for spot in everything if is_result(spot) and spot not in answered]
    left = inside - {below for spot in [*broken, *orphans] for below in spots(spot)}
    for calls in broken:
        message = calls.parent
        if message in left and as_message(draft(left, message).messages[0]).is_blank:
            left -= set(spots(message))
    return left


def is_in(spot: Spot, inside: set[Spot]) -> bool:
    """Whether an element counts as included: a first does if one of its alternatives does."""
    if spot.kind == "first":
        return any(is_in(child, inside) for child in spot.children)
    return spot in inside


# ------------------------------------------------------------------------------------------ limits


def _settle(tree: Tree, spot: Spot, limit: int) -> None:
    """Find the limit of every isolate and max in tokens, render isolates, mark what is over its limit."""
    spec = _limit_spec(spot)
    if spec is not None:
        limit = spot.ceiling = _in_tokens(spec, limit)
    for child in spot.children:
        _settle(tree, child, limit)
    if spot.kind == "isolate":
        solution = _isolated(tree, spot)
        spot.over = solution is None
        spot.shown = frozenset(solution or ())
    elif spot.kind == "max":
        spot.over = _cost_alone(tree, spot, _content(tree, spot, BASE)) > limit
    if spot.over and isinstance(spec, int):
        raise _own_limit(tree, spot)


def _limit_spec(spot: Spot) -> int | str | None:
    if spot.kind in ("isolate", "max") and isinstance(spot.element, (el.Isolate, el.Max)):
        return spot.element.token_limit
    return None


def _in_tokens(spec: int | str, outer: int) -> int:
    """``7``, ``"50%"``, ``"50% + 7"`` or ``"50% - 7"`` of ``outer`` tokens."""
    if isinstance(spec, int):
        return spec
    percent, _, more = "".join(spec.split()).partition("%")
    return max(0, int(percent) * outer // 100 + int(more or 0))


def _isolated(tree: Tree, isolate: Spot) -> set[Spot] | None:
    """What an isolate shows: its content at its own smallest level that fits; None if none does."""
    (content,) = isolate.children
    if _required_but_over(content) is not None:
        return None
    inside = [closed(tree, taken(tree, content, level), content) for level in levels_of(content)]
    return next((shown for shown in inside if _count_alone(tree, content, shown) <= isolate.ceiling), None)


def _count_alone(tree: Tree, content: Spot, shown: set[Spot]) -> int:
    """What an isolate's content costs as a prompt of its own."""
    made = draft(shown, content)
    return tree.prices.cost(made) + tree.prices.chat(made, incomplete=False)


def _required_but_over(spot: Spot) -> Spot | None:
    """The first element over its relative limit that is in at ``BASE_PRIORITY``, so whatever the cutoff."""
    if not reaches(spot, BASE):
        return None
    if spot.over:
        return spot
    if spot.kind == "isolate":
        return None
    found = (_required_but_over(child) for child in _chosen(spot, BASE))
    return next((each for each in found if each is not None), None)


def _own_limit(tree: Tree, spot: Spot) -> PromptTooLong:
    """The error for an isolate or max over its own limit."""
    if spot.kind == "max":
        cost = _cost_alone(tree, spot, _content(tree, spot, BASE))
        return _too_long(tree, spot, spot.ceiling, [BASE], [cost])
    (content,) = spot.children
    levels = levels_of(content)
    inside = [closed(tree, taken(tree, content, level), content) for level in levels]
    counts = [_count_alone(tree, content, shown) for shown in inside]
    return _too_long(tree, content, spot.ceiling, levels, counts)


def _too_long(
    tree: Tree, spot: Spot, limit: int, levels: list[el.Number], counts: list[int]
) -> PromptTooLong:
    """The error, with the figures of the level that needs least."""
    least = min(counts)
    inside = {spot, *_content(tree, spot, levels[counts.index(least)])}
    made: Draft = draft(inside if spot.kind == "max" else closed(tree, inside, spot), spot)
    specs = map(_limit_spec, spots(tree.root))
    return PromptTooLong(
        token_count=least - made.reserved,
        tokens_reserved=made.reserved,
        token_limit=limit,
        required_limit=None if any(isinstance(spec, str) for spec in specs) else least,
        element=None if spot.kind == "root" else spot.path,
    )
