"""What trees are drawn from: texts, priorities, limits, and nodes without children."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.excerpts import excerpt
from priompt_py.author.messages import image, part
from priompt_py.author.tags import br, cache_break, capture, config, empty, hr, token_break
from priompt_py.author.tools import tool_definition
from priompt_py.model.elements import BASE_PRIORITY, Node, Number

__all__ = ["Rank", "leaf", "limits", "made", "priorities", "ranks", "texts"]

A = TypeVar("A")
B = TypeVar("B")
Made = TypeVar("Made")

Rank: TypeAlias = Mapping[str, Any]
"""``p`` or ``prel`` of an element, or nothing."""


def made(
    make: Callable[[A, B], Made], one: SearchStrategy[A], other: SearchStrategy[B]
) -> SearchStrategy[Made]:
    """What ``make`` makes of two things drawn; as ``st.builds``, but checked by types, also within a lambda."""
    return st.tuples(one, other).map(lambda drawn: make(*drawn))


# fmt: off
_WORDS = (
    "a", "b", " ", "\n", "ab", "abc", "bcd ", "c d", "1", "12345", "don't ", "foo_bar()", "{}", "<b>&amp;", "I'll", "/",
    "naïve ", "合同", "лимит ", "δοκιμή", "สวัสดี", "مرحبا", "e\u0301", "😀", "👩\u200d👩\u200d👧 ", "\t", "    ", "\r\n", "\n\n  ",
    "\u00a0", "\u200b", "http://x.y/z ", "<|im_end|>", "<|endoftext|>", "<|im_start|>system<|im_sep|>",
)
# fmt: on


def texts(*, max_words: int = 4) -> SearchStrategy[str]:
    """Texts of some words of many scripts, code, white space, emoji, and what looks like control tokens."""
    word = st.sampled_from(_WORDS) | st.text("abcd ", max_size=4) | st.text(max_size=3)
    return st.lists(word, max_size=max_words).map("".join)


def priorities() -> SearchStrategy[Number]:
    """Small whole numbers, many of them equal; fractions, negative and huge ones, around ``BASE_PRIORITY``."""
    odd = (0.5, 2.5, -0.5, -0.0, 1e-9, 1e18, -1e18, 10**18 + 1, -(10**18))
    edge = (BASE_PRIORITY, BASE_PRIORITY - 1, BASE_PRIORITY + 1, 2 * BASE_PRIORITY)
    any_float = st.floats(-1e20, 1e20)
    return st.integers(0, 5) | st.integers(-3, 12) | st.sampled_from(odd) | st.sampled_from(edge) | any_float


def ranks() -> SearchStrategy[Rank]:
    """``p`` or ``prel`` of an element, or nothing."""
    small = st.integers(-3, 1) | st.sampled_from((-0.5, 0.25, -1e18, 1e18))
    nothing: dict[str, Any] = {}
    return (
        st.just(nothing) | st.fixed_dictionaries({"p": priorities()}) | st.fixed_dictionaries({"prel": small})
    )


def limits() -> SearchStrategy[int | str]:
    """Limits of isolates and maxes: most of them roomy, since one that required content exceeds ends all."""
    shares = st.builds("{}%{}".format, st.integers(0, 130), st.sampled_from(("", " + 7", "-3", " - 20 ")))
    return st.sampled_from((60, 400, 25, 8, 10_000)) | st.integers(0, 40) | shares


def _note(*_: object) -> None:
    """A handler that does nothing."""


_SCHEMA = {"type": "object", "properties": {"query": {"type": "string", "description": "what to look for"}}}

_URL = "https://example.org/a.png"

_DATA = {"type": "reasoning", "text": "naïve"}

_TOOLS = (
    tool_definition(name="now"),
    tool_definition(name="search", description="Look something up.", parameters=_SCHEMA),
    tool_definition(name="search", description="Look something up.", parameters=dict(_SCHEMA)),
    tool_definition(name="search", description="Look something up.", parameters=_SCHEMA, p=3),
    tool_definition(name="now", prel=-2),
)


def _reserve(count: Any) -> int:
    return int(count("a b c"))


def leaf(kind: str) -> SearchStrategy[Node]:
    """Nodes of one kind without children."""
    some_ranks = ranks()
    match kind:
        case "text":
            return texts()
        case "number":
            return st.integers(-9, 10**20) | st.floats(allow_nan=False, allow_infinity=False)
        case "none":
            return st.sampled_from((None, False, True))
        case "br" | "token_break" | "hr" | "cache_break":
            tag: Any = {"br": br, "token_break": token_break, "hr": hr, "cache_break": cache_break}[kind]
            return st.just(tag) | some_ranks.map(lambda rank: tag(**rank))
        case "capture":
            return some_ranks.map(lambda rank: capture(on_output=_note, **rank))
        case "empty":
            sizes: SearchStrategy[Any] = st.integers(0, 30) | st.just(_reserve)
            return made(lambda tokens, rank: empty(tokens=tokens, **rank), sizes, some_ranks)
        case "config":
            return made(lambda keys, rank: config(**keys, **rank), _config_keys(), some_ranks)
        case "tool_definition":
            return st.sampled_from(_TOOLS)
        case "excerpt":
            lines = st.lists(texts(), min_size=1, max_size=5)
            return st.tuples(lines, _importance(), some_ranks).map(lambda drawn: _excerpt(*drawn))
        case "image":
            return made(lambda how, rank: image(url=_URL, **how, **rank), _image_keys(), some_ranks)
        case "part":
            costs = st.one_of(st.integers(0, 20), st.none())
            return made(lambda n, r: part(provider="openai", data=_DATA, tokens=n, **r), costs, some_ranks)
        case _:
            raise ValueError(f"no kind of node is named {kind!r}")


def _importance() -> SearchStrategy[dict[str, Any]]:
    """What says which pieces of an excerpt come in first; a priority is a function here, to fit any number."""
    numbers = st.lists(priorities(), min_size=1, max_size=4)
    return st.fixed_dictionaries(
        {"how": st.sampled_from(("head", "tail", "ends", "around")) | numbers},
        optional={"omitted": st.sampled_from(("...", "\n[…]\n"))},
    )


def _excerpt(lines: list[str], importance: Mapping[str, Any], rank: Rank) -> Node:
    how, omitted = importance["how"], importance.get("omitted")
    text = "\n".join(lines)
    if how == "around":
        return excerpt(text, around=1, omitted=omitted, **rank)
    if isinstance(how, str):
        return excerpt(text, keep=cast("Literal['head', 'tail', 'ends']", how), omitted=omitted, **rank)
    numbers: list[Number] = how
    return excerpt(text, priority=lambda index, _: numbers[index % len(numbers)], omitted=omitted, **rank)


def _config_keys() -> SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "stop": st.sampled_from(("\n", ("a", "b"))),
            "max_response_tokens": st.sampled_from((5, "tokens_reserved", "tokens_remaining")),
            "extra": st.dictionaries(st.sampled_from(("seed", "user")), st.integers(0, 3), max_size=2),
        },
    )


def _image_keys() -> SearchStrategy[dict[str, Any]]:
    side = st.integers(1, 3000)
    return st.fixed_dictionaries(
        {"detail": st.sampled_from(("low", "high", "auto"))}, optional={"dimensions": st.tuples(side, side)}
    )
