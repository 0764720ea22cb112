"""The element tree: what a prompt is made of, as plain data.

Elements are made by the tags of :mod:`priompt_py.author`, which check every argument; the classes
here only hold them. They are values: nothing in this package changes one after it was made, so an
element can stand in many places, in many prompts and in many threads. They are not frozen by
attrs, because that doubles what an element costs to make; a test proves that nothing mutates.

``children`` are always *spread*: lists and generators were resolved when the element took them,
so a child is a text, a number, ``None``, a boolean or an element.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeAlias

import attrs

from priompt_py.errors import ArgumentTypeError

__all__ = [
    "BASE_PRIORITY",
    "AsyncNode",
    "CacheBreak",
    "Call",
    "Capture",
    "Child",
    "ComponentCall",
    "Config",
    "Container",
    "Element",
    "Empty",
    "Excerpt",
    "Fallback",
    "First",
    "Image",
    "Isolate",
    "LineBreak",
    "Max",
    "Message",
    "Node",
    "Number",
    "Part",
    "Role",
    "Rule",
    "Scope",
    "TokenBreak",
    "ToolDefinition",
    "turn",
    "walk",
]

BASE_PRIORITY = 1_000_000_000
"""The root's declared priority. The cutoff never rises above it."""

Number: TypeAlias = int | float
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]


def turn(index: int) -> int:
    """The ``prel`` of the message with this 0-based index since the conversation began.

    Counted from the start, so that a turn's priority never moves when later turns are added.
    """
    if type(index) is not int:
        raise ArgumentTypeError(f"turn() needs a message's number, an int, got a {type(index).__name__}")
    return -1_000_000 + index


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Element:
    """Base of all elements. ``p`` and ``prel`` are the declared priority, ``key`` is a label."""

    kind: ClassVar[str] = "element"
    p: Number | None = None
    prel: Number | None = None
    key: str | None = None

    @property
    def label(self) -> str | None:
        """The element's label in source maps and decisions: ``key``, for scopes else ``name``."""
        return self.key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Element):
            return NotImplemented
        from priompt_py.model.values import equal

        return equal(self, other)

    def __hash__(self) -> int:
        from priompt_py.model.values import shallow_hash

        return shallow_hash(self)

    def __repr__(self) -> str:
        from priompt_py.model.values import brief

        return brief(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython calls it so
        """In IPython and in hypothesis' reports: the code that makes the element."""
        from priompt_py.model.code import code_of

        printer.text(code_of(self, indent=" " * getattr(printer, "indentation", 0)))

    def __copy__(self) -> Element:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Element:
        return self

    def __reduce__(self) -> tuple[Callable[[list[Any]], Element], tuple[list[Any]]]:
        from priompt_py.model.values import flatten, unflatten

        return (unflatten, (flatten(self),))

    if not TYPE_CHECKING:  # the types say already that elements can't be subscripted

        def __getitem__(self, children: object) -> NoReturn:
            if isinstance(self, Container):
                raise ArgumentTypeError(
                    f"{tag_name(self)} has its children already: give them all in one [...]"
                )
            raise ArgumentTypeError(f"{tag_name(self)} takes no children")

        # Without this Python would fall back on __getitem__ to iterate.
        __iter__ = None


if TYPE_CHECKING:
    Node: TypeAlias = (
        str
        | int
        | float
        | None
        | Element
        | Sequence["Node"]
        | Iterator["Node"]
        | Coroutine[Any, Any, "Node"]
        | Callable[[], Coroutine[Any, Any, "Node"]]
    )
else:
    # Without the recursion, so that typing.get_type_hints works on the functions of any module.
    Node = str | int | float | None | Element | Sequence | Iterator | Coroutine | Callable
"""What may stand in a prompt (typed; what the types can't tell apart is refused when it is met)."""

Child: TypeAlias = str | int | float | None | Element
"""What ``children`` hold: a node after spreading. Booleans are ints to the types; they render nothing."""


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Container(Element):
    """An element that takes children."""

    children: tuple[Child, ...] = ()


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Scope(Container):
    """The unit of priority: in or out with its content."""

    kind: ClassVar[str] = "scope"
    name: str | None = None
    on_include: Callable[..., object] | None = None
    on_eject: Callable[..., object] | None = None

    @property
    def label(self) -> str | None:
        return self.key if self.key is not None else self.name


@attrs.define(eq=False, repr=False, weakref_slot=False)
class First(Container):
    """Its children are alternatives: the first eligible one is in, the others are out."""

    kind: ClassVar[str] = "first"
    name: str | None = None
    on_include: Callable[..., object] | None = None
    on_eject: Callable[..., object] | None = None

    @property
    def label(self) -> str | None:
        return self.key if self.key is not None else self.name


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Fallback(Container):
    """A scope around a first whose alternatives are ranked by themselves, best first."""

    kind: ClassVar[str] = "fallback"
    name: str | None = None

    @property
    def label(self) -> str | None:
        return self.key if self.key is not None else self.name


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Empty(Element):
    """Reserves ``tokens`` tokens (or what a function of ``count(text)`` says); renders nothing."""

    kind: ClassVar[str] = "empty"
    tokens: int | Callable[..., int | Awaitable[int]] = 0


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Isolate(Container):
    """Content rendered by itself under its own limit."""

    kind: ClassVar[str] = "isolate"
    token_limit: int | str = 0


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Max(Container):
    """A ceiling on its content's tokens; its scopes stay in the one global order."""

    kind: ClassVar[str] = "max"
    token_limit: int | str = 0


@attrs.define(eq=False, repr=False, weakref_slot=False)
class LineBreak(Element):
    """A line feed, with a token break after it."""

    kind: ClassVar[str] = "br"


@attrs.define(eq=False, repr=False, weakref_slot=False)
class TokenBreak(Element):
    """Nothing to see; tokens never merge across it."""

    kind: ClassVar[str] = "token_break"


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Rule(Element):
    """A horizontal rule: the text of :data:`RULE_TEXT`."""

    kind: ClassVar[str] = "hr"


@attrs.define(eq=False, repr=False, weakref_slot=False)
class CacheBreak(Element):
    """A mark for prefix caching; renders nothing, tokens never merge across it."""

    kind: ClassVar[str] = "cache_break"


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Capture(Element):
    """Handlers for the model's answer."""

    kind: ClassVar[str] = "capture"
    on_output: Callable[..., object] | None = None
    on_stream: Callable[..., object] | None = None
    on_stream_response: Callable[..., object] | None = None


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Config(Element):
    """Request settings that travel with the prompt."""

    kind: ClassVar[str] = "config"
    stop: str | tuple[str, ...] | None = None
    max_response_tokens: int | Literal["tokens_reserved", "tokens_remaining"] | None = None
    extra: Mapping[str, Any] | None = None


@attrs.frozen
class Call:
    """A tool call of an assistant message. ``arguments`` is JSON text, as it is sent."""

    id: str | None
    name: str
    arguments: str


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Message(Container):
    """A chat message. ``name`` and ``to`` are the provider's, not labels."""

    kind: ClassVar[str] = "message"
    separates: ClassVar[bool] = True  # a message of texts is its own leaf when compiled: see ops.py
    role: Role = "user"
    name: str | None = None
    to: str | None = None
    tool_calls: tuple[Call, ...] = ()
    function_call: Call | None = None
    tool_call_id: str | None = None
    is_error: bool = False


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Image(Element):
    """A picture: bytes or a URL. ``dimensions`` are (width, height) in pixels, None if unknown."""

    kind: ClassVar[str] = "image"
    data: bytes | None = None
    url: str | None = None
    detail: Literal["low", "high", "auto"] = "auto"
    dimensions: tuple[int, int] | None = None
    media_type: str | None = None


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Part(Element):
    """An opaque content part that only its provider gets; ``tokens`` is its cost (None: as JSON)."""

    kind: ClassVar[str] = "part"
    provider: str = ""
    data: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    tokens: int | None = None


@attrs.define(eq=False, repr=False, weakref_slot=False)
class ToolDefinition(Element):
    """A tool that the model may call. ``parameters`` is a JSON Schema."""

    kind: ClassVar[str] = "tool_definition"
    name: str = ""
    description: str = ""
    parameters: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    strict: bool | None = None
    on_call: Callable[..., object] | None = None
    on_result: Callable[..., object] | None = None
    on_format: Callable[..., object] | None = None
    on_parse_error: Callable[..., object] | None = None


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Excerpt(Element):
    """A long text whose ``pieces`` come in by importance, as one node.

    The pieces together are ``text``; none is empty. Exactly one of ``priority`` (a declared priority for
    each piece), ``around`` (the number of a piece, from 1) and ``keep`` says how important each is.
    ``omitted`` is put where pieces were left out.
    """

    kind: ClassVar[str] = "excerpt"
    text: str = ""
    by: str | re.Pattern[str] = "line"
    priority: tuple[Number, ...] | None = None
    around: int | None = None
    keep: Literal["head", "tail", "ends"] | None = None
    omitted: str | None = None
    pieces: tuple[str, ...] = ()

    def priorities(self, declared: Number) -> Sequence[Number]:
        """The declared priority of each piece, where the excerpt's own is ``declared``.

        With ``around`` and ``keep`` the most important piece has the excerpt's own priority, and each
        other one less for each piece between it and that one.
        """
        count = len(self.pieces)
        if self.priority is not None:
            return self.priority
        steps: Sequence[int]
        if self.around is not None:
            at = self.around - 1
            steps = [*range(-at, 0), *range(0, at - count, -1)]
        elif self.keep == "tail":
            steps = range(1 - count, 1)
        elif self.keep == "head":
            steps = range(0, -count, -1)
        else:
            half = (count + 1) // 2
            steps = [*range(0, -half, -1), *range(1 - (count - half), 1)]
        if isinstance(steps, range) and isinstance(declared, int):
            return range(declared + steps.start, declared + steps.stop, steps.step)
        return [declared + step for step in steps]


@attrs.define(eq=False, repr=False, weakref_slot=False)
class ComponentCall(Container):
    """A component with its props and children; the function runs when the prompt is rendered."""

    kind: ClassVar[str] = "component"
    function: Callable[..., Any] = attrs.field(kw_only=True)
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    takes_children: bool = True

    @property
    def name(self) -> str:
        """The component's name, for paths."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))


@attrs.define(eq=False, repr=False, weakref_slot=False)
class AsyncNode(Element):
    """A coroutine or a zero-argument async function; its result stands in its place."""

    kind: ClassVar[str] = "async"
    source: Coroutine[Any, Any, Any] | Callable[[], Coroutine[Any, Any, Any]] = attrs.field(kw_only=True)

    @property
    def name(self) -> str:
        """The coroutine's or function's name, for paths."""
        return str(getattr(self.source, "__name__", type(self.source).__name__))


RULE_TEXT = "\n\n-------\n\n"


def children_of(element: Element) -> tuple[Child, ...]:
    """The element's children, ``()`` for a void element."""
    return element.children if isinstance(element, Container) else ()


def walk(node: Child | Sequence[Child]) -> Iterator[Child]:
    """Every node of a tree in document order, the given one first. Does not run components."""
    stack: list[Child] = (
        [node] if node is None or isinstance(node, (str, int, float, Element)) else [*reversed(node)]
    )
    while stack:
        here = stack.pop()
        yield here
        if isinstance(here, Container):
            stack.extend(reversed(here.children))


def field_names(cls: type[Element]) -> tuple[str, ...]:
    """The names of an element class's fields, without ``children``."""
    names = _FIELDS.get(cls)
    if names is None:
        names = tuple(f.name for f in attrs.fields(cls) if f.name != "children")
        _FIELDS[cls] = names
    return names


_FIELDS: dict[type[Element], tuple[str, ...]] = {}


def tag_name(element: Element) -> str:
    """The Python tag that makes an element, ``user_message`` say."""
    if isinstance(element, Message):
        return f"{element.role}_message"
    if isinstance(element, (ComponentCall, AsyncNode)):
        return element.name
    return "at_most" if element.kind == "max" else element.kind


def element_type(element: Element) -> str:
    """The element's name in templates, JSON and paths, ``user`` say."""
    if isinstance(element, Message):
        return element.role
    if isinstance(element, (ComponentCall, AsyncNode)):
        return element.name
    return element.kind
