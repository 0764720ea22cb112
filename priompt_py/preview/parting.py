"""What ``priompt diff`` says: where two renders part, and what they share."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from priompt_py.face.difference import Difference, DifferentElement
from priompt_py.face.rendered import Rendered
from priompt_py.face.rows import Line, cut, cut_start
from priompt_py.face.visible import in_one_line, tokens_text

__all__ = ["WHAT", "parting_lines"]

_BEFORE, _AFTER = 30, 40  # characters of the text that are shown around the difference

_WIDE = 80  # cells that all of that fits into, or nearly

WHAT = {
    "text": "their texts differ",
    "message": "a message ends in one where it goes on in the other, or only one has it",
    "tools": "their tools differ, which are sent before all else",
    "image": "their images differ",
    "part": "their parts differ",
    "tool_calls": "their tool calls differ",
    "tool_call_id": "they are results of different calls",
    "is_error": "one is the result of a call that failed, and the other is not",
}
"""What each kind of difference means, for people."""


def parting_lines(
    a: Rendered,
    b: Rendered,
    found: Difference | None,
    names: tuple[str, str],
    *,
    width: int = _WIDE,
    plain: bool = False,
) -> Iterator[Line]:
    """The difference of two renders, called by these names, for people; the text around it is cut to ``width`` cells where
    they are fewer than 80."""
    first, second = names
    if found is None:
        tokens = tokens_text(a.token_count)
        yield [(f"{first} and {second} are sent alike: {tokens}", "text")]
        return
    about = "" if found.is_exact else "about "
    yield [("shared  ", "title"), (f"{about}{tokens_text(found.tokens)} of prefix", "text")]
    for name, one in ((first, a), (second, b)):
        share = 100 * found.tokens // max(1, one.token_count)
        yield [
            ("        ", "title"),
            (f"{share} % of {name}, which has {tokens_text(one.token_count)}", "text"),
        ]
    yield [("parting ", "title"), (f"at character {found.characters:,}: {WHAT[found.what]}", "text")]
    for name, one, element in ((first, a, found.a), (second, b, found.b)):
        yield [("        ", "title"), (f"{name}: {_element(element)}", "text")]
        if found.what != "tools":
            yield [("          ", "title"), *_around(one.to_text(), found.characters, width, plain=plain)]


def _element(element: DifferentElement | None) -> str:
    if element is None:
        return "ends here"
    if element.kind == "tool_definition" and element.label is not None:
        return f"the tool {in_one_line(element.label)} ({in_one_line(element.path)})"
    name = f"{element.label} ({element.path})" if element.label is not None else element.path
    return f"{in_one_line(name)}, which begins after {tokens_text(element.tokens)}"


def _around(text: str, offset: int, width: int, *, plain: bool) -> Line:
    """The text before and after a character, in one line of a width."""
    before = text[max(0, offset - _BEFORE) : offset]
    after = text[offset : offset + _AFTER]
    dots = "..." if plain else "…"
    start = dots if offset > _BEFORE else ""
    end = dots if offset + _AFTER < len(text) else ""
    room = width - 10 if width < _WIDE else _BEFORE + _AFTER + 80
    shown = cut_start(start + in_one_line(before), max(8, 3 * room // 7), plain=plain)
    rest = cut(in_one_line(after) + end, max(8, room - cell_len(shown) - 1), plain=plain)
    return [(shown, "out"), ("|" if plain else "▏", "title"), (rest, "text")]
