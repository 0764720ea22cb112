"""The compiled form of a prompt: leaves with the half-open interval of cutoffs they are present for.

A leaf is present for ``low < cutoff <= high``. ``highs`` runs beside ``leaves``; ``lows`` holds only
the leaves that have a low end (they stand in a later alternative of a ``first``), all others are
present for every cutoff up to their high end. Nothing downstream knows elements by kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias

import attrs

from priompt_py.model.elements import (
    Call,
    Capture,
    Child,
    Config,
    Empty,
    Image,
    Isolate,
    Max,
    Message,
    Number,
    Part,
    ToolDefinition,
)

__all__ = [
    "NEVER",
    "CacheCut",
    "CallsOp",
    "CaptureOp",
    "Choices",
    "Compiled",
    "ConfigOp",
    "Cut",
    "Entry",
    "ImageOp",
    "IsolateOp",
    "Leaf",
    "MaxRegion",
    "MessageEnd",
    "MessageStart",
    "Op",
    "Ops",
    "PartOp",
    "ReserveOp",
    "ToolOp",
    "ToolRecord",
    "UnitRecord",
    "size_of",
    "text_of",
]

FRAME_SIZE = 16  # characters of text that cost about what stands around a message's content

NEVER = float("-inf")
"""The low end of what has none; no priority is that low."""


Choices: TypeAlias = tuple[tuple[int, int], ...]
"""The firsts around something, from the root inwards, and which alternative of each it stands in."""


@attrs.define(eq=False)
class Op:
    """A leaf that is not text. ``separates``: tokens never merge across it; ``size``: about how many
    characters of text cost as much, for guesses."""

    separates: ClassVar[bool] = False
    size: ClassVar[int] = 0


@attrs.define(eq=False)
class Cut(Op):
    """A token break."""

    separates: ClassVar[bool] = True


@attrs.define(eq=False)
class CacheCut(Op):
    """A mark for prefix caching, which is a token break too."""

    separates: ClassVar[bool] = True


@attrs.define(eq=False)
class MessageStart(Op):
    """The beginning of a message that holds more than texts; its content follows as leaves of its own."""

    separates: ClassVar[bool] = True
    size: ClassVar[int] = FRAME_SIZE

    message: Message


@attrs.define(eq=False)
class MessageEnd(Op):
    """The end of a message."""

    separates: ClassVar[bool] = True


@attrs.define(eq=False)
class CallsOp(Op):
    """The tool calls of the message it stands in (one unit), or its legacy function call."""

    size: ClassVar[int] = 100

    calls: tuple[Call, ...]
    legacy: bool = False


@attrs.define(eq=False)
class ReserveOp(Op):
    """Tokens kept empty. ``path`` is kept where a function says how many."""

    element: Empty
    path: str = ""


@attrs.define(eq=False)
class ConfigOp(Op):
    """Request settings."""

    element: Config


@attrs.define(eq=False)
class CaptureOp(Op):
    """Handlers for the answer."""

    element: Capture


@attrs.define(eq=False)
class ToolOp(Op):
    """A tool definition. Its cost depends on what other tools are in, so it is counted apart."""

    element: ToolDefinition


@attrs.define(eq=False)
class ImageOp(Op):
    """A picture."""

    size: ClassVar[int] = 2_000

    element: Image


@attrs.define(eq=False)
class PartOp(Op):
    """An opaque part."""

    element: Part


@attrs.define(eq=False)
class IsolateOp(Op):
    """Content that is solved by itself; ``limit`` as its author wrote it."""

    size: ClassVar[int] = 1_000

    element: Isolate
    ops: Ops
    limit: int | str
    path: str


Leaf: TypeAlias = str | Op | Message
"""A text, an op, or a whole message that holds nothing but texts: the element itself, since no token of it
depends on what stands around it."""


def text_of(message: Message) -> str:
    """The text of a message that is a leaf."""
    texts: tuple[Any, ...] = message.children
    return texts[0] if len(texts) == 1 else "".join(texts)


def size_of(leaf: Leaf) -> int:
    """About how many characters of text cost as much as a leaf."""
    if isinstance(leaf, Message):
        texts: tuple[Any, ...] = leaf.children
        return FRAME_SIZE + (len(texts[0]) if len(texts) == 1 else sum(map(len, texts)))
    return len(leaf) if isinstance(leaf, str) else leaf.size


@attrs.define(eq=False)
class MaxRegion:
    """The leaves ``start`` (inclusive) to ``end`` (exclusive) under one ceiling.

    Inside a region, intervals hold for the region's own level g; ``low < cutoff <= high`` is when
    the max element itself is present, in terms of the level of the region ``parent`` (an index
    into ``Ops.regions``, None: of the prompt). ``levels`` are the declared priorities inside.
    """

    element: Max
    limit: int | str
    low: Number
    high: Number
    parent: int | None
    path: str
    start: int
    end: int = 0
    levels: list[Number] = attrs.field(factory=list[Number])


@attrs.define(eq=False)
class UnitRecord:
    """A message with tool calls, or a tool's result: its leaves, from ``start`` (its MessageStart) to ``end`` (its
    MessageEnd, inclusive). One that no cutoff can bring in is not ``present``: it has no leaves."""

    message: Message
    path: str
    choices: Choices
    present: bool
    start: int
    end: int = 0


@attrs.define(eq=False)
class ToolRecord:
    """A tool definition of the tree, wherever it stands."""

    element: ToolDefinition
    path: str
    choices: Choices


@attrs.define(eq=False)
class Ops:
    """A compiled prompt, or the inside of one isolate.

    ``levels`` are declared priorities that are not the high end of some leaf already, unsorted and
    with repeats; ``regions`` are in the order in which they were opened (parents before children).
    ``starts`` and ``ends`` are where messages that are no leaf of their own begin and end, both in order;
    ``has_messages`` says whether some cutoff brings in a message at all; ``units`` are the messages of tool units; ``hidden`` are leaves inside messages that no cutoff can bring in. ``isolates`` and ``tools`` are indexes of leaves. ``known`` keeps
    what the engine found out once and can use at the next limit.
    """

    leaves: list[Leaf] = attrs.field(factory=list[Leaf])
    highs: list[Number] = attrs.field(factory=list[Number])
    lows: dict[int, Number] = attrs.field(factory=dict[int, Number])
    levels: list[Number] = attrs.field(factory=list[Number])
    regions: list[MaxRegion] = attrs.field(factory=list[MaxRegion])
    starts: list[int] = attrs.field(factory=list[int])
    ends: list[int] = attrs.field(factory=list[int])
    has_messages: bool = False
    units: list[UnitRecord] = attrs.field(factory=list[UnitRecord])
    hidden: list[range] = attrs.field(factory=list[range])
    isolates: list[int] = attrs.field(factory=list[int])
    tools: list[int] = attrs.field(factory=list[int])
    only_text: bool = True
    in_message: bool = False
    known: dict[int, Any] = attrs.field(factory=dict[int, Any])

    def nested(self) -> Iterator[Ops]:
        """These ops and all isolates' inside, parents before children."""
        stack: list[Ops] = [self]
        while stack:
            here = stack.pop()
            yield here
            for index in reversed(here.isolates):
                leaf = here.leaves[index]
                assert isinstance(leaf, IsolateOp)
                stack.append(leaf.ops)


@attrs.define(eq=False)
class Entry:
    """One element or text of the tree, as the compiler met it: for decisions and source maps.

    ``start``/``end`` are its leaves (half-open) in ``ops``; ``parent`` is an index into the list of
    entries, -1 for the root's children. ``low``/``high`` are in terms of the region ``region``.
    ``opened`` is the region that a max opened, ``inner`` the ops that an isolate did.
    """

    segment: str
    parent: int
    kind: str
    label: str | None
    priority: Number
    low: Number
    high: Number
    region: int | None
    ops: Ops
    start: int
    end: int
    element: Child
    is_alternative: bool
    opened: int | None = None
    inner: Ops | None = None


@attrs.define(eq=False)
class Compiled:
    """A whole tree, compiled: its ops, and what holds for all of it.

    ``entries`` is empty unless the walk was recorded.
    """

    ops: Ops
    is_chat: bool
    has_units: bool
    has_callbacks: bool
    has_relative_limits: bool
    reserve_functions: list[ReserveOp]
    entries: list[Entry]
