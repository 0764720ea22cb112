"""The prompts that are measured: as plain data, the same for every peer, and as trees of this package.

The texts are lines of real source code: the modules of Python's own standard library, in the order of their names.
A shape is told by its kind, its scopes and its limit:

``lines``
    a file line by line: each line a scope, later lines first; it can also be written as one ``excerpt``;
``chat``
    messages of six lines, by turns of the user's and the assistant's, each in a scope, later ones first;
``firsts``
    alternatives: a third as many ``first``s, of four lines, one line and a mark, at random priorities in random order,
    so that a smaller prompt may have a higher cutoff; the limit is half of what everything takes.
"""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import cycle, islice
from pathlib import Path
from typing import Literal, NamedTuple

from priompt_py import (
    Element,
    Node,
    Rendered,
    assistant_message,
    excerpt,
    first,
    get_tokenizer,
    scope,
    user_message,
)

__all__ = [
    "ENCODING",
    "SHAPES",
    "Data",
    "Kind",
    "Shape",
    "build",
    "builder",
    "data_of",
    "excerpt_of",
    "find",
    "shown_text",
    "source_lines",
    "text_at",
]

ENCODING = "o200k_base"
LINES_A_MESSAGE = 6
LINES_AN_ALTERNATIVE = 4
MARK = "...\n"

Kind = Literal["lines", "chat", "firsts"]


class Shape(NamedTuple):
    """One row of the table. ``limit`` is in tokens; 0 stands for half of what everything takes."""

    kind: Kind
    scopes: int
    limit: int

    @property
    def name(self) -> str:
        """For tables and the ids of tests."""
        limit = f"{self.limit:,}" if self.limit else "half"
        return f"{self.kind} {self.scopes:,} / {limit}"


SHAPES = (
    Shape("lines", 1_000, 4_096),
    Shape("lines", 10_000, 8_192),
    Shape("lines", 10_000, 100_000),
    Shape("lines", 100_000, 8_192),
    Shape("lines", 100_000, 200_000),
    Shape("chat", 1_000, 16_000),
    Shape("chat", 1_000, 200_000),
    Shape("chat", 10_000, 16_000),
    Shape("firsts", 6_000, 0),
    Shape("lines", 1_000_000, 100_000),
)


class Data(NamedTuple):
    """A prompt as plain data; one of the three is filled. ``limit`` is what it is rendered under, in tokens.

    ``lines``: a text for each scope; scope i (0-based) has the priority i. ``messages``: role and text, likewise.
    ``firsts``: for each ``first`` its alternatives, priority and text.
    """

    kind: Kind
    limit: int
    lines: list[str]
    messages: list[tuple[str, str]]
    firsts: list[list[tuple[int, str]]]


@lru_cache(maxsize=1)
def source_lines() -> tuple[str, ...]:
    """All lines of the standard library's top modules, each with a line feed at its end and nowhere else."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    texts = (file.read_text("utf-8").removesuffix("\n") for file in files)
    return tuple(f"{line}\n" for text in texts for line in text.split("\n"))


def find(kind: Kind, scopes: int, limit: int) -> Shape:
    """The shape of the table with these figures; ValueError if there is none."""
    shape = Shape(kind, scopes, limit)
    SHAPES.index(shape)
    return shape


def data_of(shape: Shape) -> Data:
    """A shape's texts and priorities; lines are repeated when there are more scopes than lines."""
    lines: list[str] = []
    messages: list[tuple[str, str]] = []
    firsts: list[list[tuple[int, str]]] = []
    limit = shape.limit
    if shape.kind == "lines":
        lines = list(islice(cycle(source_lines()), shape.scopes))
    elif shape.kind == "chat":
        texts = _blocks(shape.scopes, LINES_A_MESSAGE)
        messages = [("user" if i % 2 else "assistant", text) for i, text in enumerate(texts)]
    else:
        firsts = list(_firsts(shape.scopes // 3))
        # At the lowest cutoff every `first` shows its first alternative.
        limit = limit or get_tokenizer(ENCODING).count("".join(kids[0][1] for kids in firsts)) // 2
    return Data(shape.kind, limit, lines, messages, firsts)


def _blocks(count: int, size: int) -> Iterator[str]:
    lines = cycle(source_lines())
    return ("".join(islice(lines, size)) for _ in range(count))


def _firsts(count: int) -> Iterator[list[tuple[int, str]]]:
    chance = random.Random(1)
    for block in _blocks(count, LINES_AN_ALTERNATIVE):
        one_line = block[: block.index("\n") + 1]
        priorities = chance.sample(range(1, 100_000), 3)
        yield list(zip(priorities, (block, one_line, MARK), strict=True))


# ------------------------------------------------------------------------------------------ our trees


def build(data: Data) -> list[Element]:
    """A fresh tree, written as a user would write it: an element a scope."""
    if data.kind == "lines":
        return [scope(p=i)[text] for i, text in enumerate(data.lines)]
    if data.kind == "chat":
        return [
            scope(p=i)[(user_message if role == "user" else assistant_message)[text]]
            for i, (role, text) in enumerate(data.messages)
        ]
    return [first[[scope(p=p)[text] for p, text in kids]] for kids in data.firsts]


def builder(data: Data) -> Callable[[], Node]:
    """``build`` with its data, for timing."""
    return lambda: build(data)


def excerpt_of(data: Data) -> Callable[[], Node]:
    """A builder of the lines shape as one ``excerpt``: the whole text, later lines first."""
    text = "".join(data.lines)
    return lambda: excerpt(text, by="line", keep="tail")


# ------------------------------------------------------------------------------------------ what is shown


def text_at(data: Data, cutoff: float) -> str:
    """The contents of all that is in at a cutoff, joined, found the simple way."""
    if data.kind == "lines":
        return "".join(text for i, text in enumerate(data.lines) if i >= cutoff)
    if data.kind == "chat":
        return "".join(text for i, (_, text) in enumerate(data.messages) if i >= cutoff)
    chosen = (next((text for p, text in kids if p >= cutoff), "") for kids in data.firsts)
    return "".join(chosen)


def shown_text(rendered: Rendered) -> str:
    """The contents of a prompt: its text, or its messages' texts joined, without what marks a message."""
    if rendered.text is not None:
        return rendered.text
    return "".join(message.text for message in rendered.messages or ())
