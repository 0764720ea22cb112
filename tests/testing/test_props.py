"""``props_for``: what is drawn for a type, a default, front matter; what is refused, and how."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import functools
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    LiteralString,
    NamedTuple,
    NewType,
    Optional,
    TypedDict,
    TypeVar,
    Union,
)

import annotated_types
import attrs
import pydantic
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from priompt_py import ArgumentTypeError, ArgumentValueError, Environment, Node, component, scope
from priompt_py.author.children import spread
from priompt_py.preview.registry import find_prompt, prompt
from priompt_py.testing import props_for

if TYPE_CHECKING:
    from decimal import Context as OnlyForTypeCheckers

FIND = settings(
    database=None, deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow]
)


class Tone(enum.Enum):
    kind = "kind"
    curt = "curt"


@dataclasses.dataclass
class Turn:
    text: str
    by_user: bool = True
    replies: list[Turn] = dataclasses.field(default_factory=list["Turn"])


@attrs.frozen
class Page:
    title: str
    _lines: tuple[str, ...] = ()


class Options(TypedDict, total=False):
    depth: int


class Point(NamedTuple):
    line: int
    column: int = 1


class Model(pydantic.BaseModel):
    name: str
    size: int = 3


class Bounded(pydantic.BaseModel):
    size: int = pydantic.Field(ge=1, le=5)
    name: str = pydantic.Field(min_length=2, max_length=4)
    code: str = pydantic.Field(pattern="^[a-z]{2,4}$", alias="the code")
    share: float = pydantic.Field(gt=0, lt=1)
    tags: list[str] = pydantic.Field(min_length=1, max_length=2)


T = TypeVar("T")
Json = Union[int, list["Json"]]  # noqa: UP007 - as older code has it


@dataclasses.dataclass
class Pair(Generic[T]):
    left: T
    rest: list[T]


@dataclasses.dataclass
class Nest(Generic[T]):
    pair: Pair[T]


def never(even: object, attribute: object, value: int) -> None:
    raise ValueError("never right")


@attrs.frozen
class Even:
    number: int = attrs.field(validator=never)


class Database:
    def __init__(self, url: str) -> None:
        self.url = url


UserId = NewType("UserId", int)
Annotation = Any


def drawn(annotation: Annotation, default: Any = ...) -> Any:
    """A strategy for a parameter of this type."""

    def function(x: Any) -> Node:
        return None

    function.__annotations__ = {"x": annotation}
    if default is not ...:
        function.__defaults__ = (default,)
    return props_for(function)


TYPES: dict[str, tuple[Annotation, Callable[[Any], bool]]] = {
    "str": (str, lambda x: isinstance(x, str) and "\n" in x),
    "int": (int, lambda x: type(x) is int and x > 9),
    "float": (float, lambda x: type(x) is float),
    "bool": (bool, lambda x: x is True),
    "None": (None, lambda x: x is None),
    "Any": (Any, lambda x: isinstance(x, str)),
    "optional": (Optional[int], lambda x: x is None),  # noqa: UP045 - as older code has it
    "optional, given": (int | None, lambda x: type(x) is int),
    "literal": (Literal["a", 2], lambda x: x == 2),
    "enum": (Tone, lambda x: x is Tone.curt),
    "list": (list[int], lambda x: len(x) == 2 and type(x[0]) is int),
    "bare list": (list, lambda x: x == [""]),
    "sequence": (Sequence[Turn], lambda x: bool(x) and isinstance(x[0], Turn)),
    "iterator of pairs": (list[tuple[str, int]], lambda x: bool(x) and isinstance(x[0][1], int)),
    "tuple": (tuple[str, ...], lambda x: x == ("", "")),
    "set": (set[int], lambda x: x.__class__ is set and len(x) == 2),
    "frozenset": (frozenset[str], lambda x: type(x) is frozenset),
    "mapping": (Mapping[str, int], lambda x: x == {"": 0}),
    "bare dict": (dict, lambda x: x == {"": ""}),
    "dataclass": (Turn, lambda x: not x.by_user),
    "dataclass that holds itself": (Turn, lambda x: bool(x.replies)),
    "attrs": (Page, lambda x: isinstance(x, Page) and x._lines != ()),
    "typed dict": (Options, lambda x: "depth" in x),
    "named tuple": (Point, lambda x: x.column == 3),
    "pydantic": (Model, lambda x: x.size != 3),
    "new type": (UserId, lambda x: type(x) is int),
    "annotated": (Annotated[int, "how many"], lambda x: type(x) is int),
    "annotated with a strategy": (Annotated[int, st.just(77)], lambda x: x == 77),
    "own field of pydantic": (Bounded, lambda x: len(x.tags) == 2),
    "generic dataclass": (
        Pair[int],
        lambda x: type(x.left) is int and len(x.rest) == 1 and type(x.rest[0]) is int,
    ),
    "generic in a generic": (Nest[int], lambda x: type(x.pair.left) is int),
    "generic of anything": (Pair, lambda x: x.rest == [""]),
    "alias that holds itself": (Json, lambda x: x == [[]]),
    "deque": (collections.deque[int], lambda x: x.__class__ is collections.deque and len(x) > 0),
    "ordered": (collections.OrderedDict[str, int], lambda x: x == collections.OrderedDict({"": 0})),
    "default": (collections.defaultdict[str, int], lambda x: x == {"": 0} and x.default_factory is None),
    "counter": (collections.Counter[str], lambda x: sum(x.values()) > 1),
    "bare counter": (collections.Counter, lambda x: type(x) is collections.Counter),
    "literal text": (LiteralString, lambda x: x == ""),
    "date": (dt.date, lambda x: isinstance(x, dt.date)),
    "path": (pathlib.Path, lambda x: isinstance(x, pathlib.Path)),
    "bytes": (bytes, lambda x: isinstance(x, bytes)),
    "node": (Node, lambda x: not isinstance(x, (str, int, float))),
    "nodes": (list[Node], lambda x: len(x) > 1),
    "node or none": (Node | None, lambda x: x is None),
}


@pytest.mark.slow
@pytest.mark.parametrize(("annotation", "holds"), list(TYPES.values()), ids=list(TYPES))
def test_types(annotation: Annotation, holds: Callable[[Any], bool]) -> None:
    assert holds(find(drawn(annotation), lambda props: holds(props["x"]), settings=FIND)["x"])


BOUNDS: dict[str, tuple[Annotation, Callable[[Any], bool]]] = {
    "at least": (Annotated[int, pydantic.Field(ge=5_000)], lambda x: 5_000 <= x <= 6_000),
    "between": (Annotated[int, annotated_types.Interval(gt=2, lt=5)], lambda x: x in (3, 4)),
    "at most": (Annotated[int, annotated_types.Le(-7)], lambda x: x <= -7),
    "multiple": (
        Annotated[int, annotated_types.Ge(1), annotated_types.MultipleOf(7)],
        lambda x: x > 0 and x % 7 == 0,
    ),
    "multiple of a half": (Annotated[int, annotated_types.MultipleOf(2.0)], lambda x: x % 2 == 0),
    "float": (Annotated[float, annotated_types.Gt(2_000)], lambda x: type(x) is float and x > 2_000),
    "float, at most": (Annotated[float, annotated_types.Lt(-9)], lambda x: x < -9),
    "float, multiple": (Annotated[float, annotated_types.MultipleOf(0.5)], lambda x: x % 0.5 == 0),
    "length": (Annotated[str, annotated_types.Len(3, 5)], lambda x: 3 <= len(x) <= 5),
    "long": (Annotated[str, annotated_types.MinLen(300)], lambda x: len(x) >= 300),
    "pattern": (
        Annotated[str, pydantic.Field(pattern="^a+$", max_length=3)],
        lambda x: x in ("a", "aa", "aaa"),
    ),
    "items": (Annotated[list[Turn], annotated_types.MaxLen(1)], lambda x: len(x) < 2),
    "predicate": (Annotated[int, annotated_types.Predicate(lambda x: x % 2 == 1)], lambda x: x % 2 == 1),
    "optional": (Optional[Annotated[int, pydantic.Field(gt=5)]], lambda x: x is None or x > 5),  # noqa: UP045 - pyright knows no "|" of Annotated
    "other notes": (Annotated[int, "ge", re.compile("x")], lambda x: type(x) is int),
    "deeper": (list[Annotated[UserId, pydantic.Field(gt=0)]], lambda x: all(y > 0 for y in x)),
}


@pytest.mark.parametrize(("annotation", "holds"), list(BOUNDS.values()), ids=list(BOUNDS))
def test_bounds_are_kept(annotation: Annotation, holds: Callable[[Any], bool]) -> None:
    seen: list[Any] = []

    @settings(database=None, deadline=None, max_examples=40)
    @given(drawn(annotation))
    def run(props: dict[str, Any]) -> None:
        seen.append(props["x"])

    run()
    assert [x for x in seen if not holds(x)] == []
    assert len({repr(x) for x in seen}) > 1


def test_a_class_that_refuses_what_is_drawn_says_what_would_do() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        find(drawn(Even), lambda _: True, settings=FIND)
    assert str(caught.value) == (
        "props_for(): the prop x of function: Even refuses the values that are drawn for it by its types (ValueError: "
        "never right); give a strategy: props_for(function, x=st.…), or budget_test(function, props={'x': st.…}); or for "
        "every prompt: st.register_type_strategy(Even, st.builds(Even, …))"
    )


@given(drawn(Node))
def test_nodes_can_stand_in_a_prompt(props: dict[str, Any]) -> None:
    assert isinstance(spread(props["x"], "root"), tuple)


def test_a_default_is_left_out_at_times() -> None:
    assert find(drawn(str, default="a"), lambda props: "x" not in props, settings=FIND) == {}
    assert find(drawn(str, default="a"), lambda props: "x" in props, settings=FIND) == {"x": ""}


def test_a_default_without_annotation_shows_the_type() -> None:
    def function(name="world", n=3, nothing=None, turns=({"a": 1},)):  # type: ignore[no-untyped-def]  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType] - as beginners write
        return None

    full = find(props_for(function), lambda props: len(props) == 3, settings=FIND)
    assert full == {"name": "", "n": 0, "turns": ()}


def test_an_unknown_type_with_a_default_keeps_it() -> None:
    assert find(drawn(Database, default=None), lambda _: True, settings=FIND) == {}


def needs(db: Database, question: str) -> Node:
    return question


def reads(context: OnlyForTypeCheckers, question: str) -> Node:
    return question


def plain(question) -> Node:  # type: ignore[no-untyped-def]  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType] - as beginners write
    return None


def by_place(question: str, /) -> Node:
    return question


def calls_back(callback: Callable[[], str]) -> Node:
    return callback()


@dataclasses.dataclass
class Holder:
    db: Database


def nested(holders: list[Holder]) -> Node:
    return None


class Mood(enum.Enum):
    """None of them."""


def in_no_mood(mood: Mood) -> Node:
    return None


REFUSED: dict[str, tuple[Any, str]] = {
    "unknown class": (
        needs,
        (
            "props_for(): the prop db of needs has the type Database, which no strategy is known for; give one: "
            "props_for(needs, db=st.…), or budget_test(needs, props={'db': st.…}); or for every prompt: "
            "st.register_type_strategy(Database, st.builds(Database, …))"
        ),
    ),
    "unreadable": (
        reads,
        (
            "props_for(): the prop context of reads has the type 'OnlyForTypeCheckers', whose names are not there at run "
            "time, which no strategy is known for; give one: props_for(reads, context=st.…), or budget_test(reads, "
            "props={'context': st.…})"
        ),
    ),
    "no annotation": (
        plain,
        (
            "props_for(): the prop question of plain has no annotation; annotate it, or give a strategy: "
            "props_for(plain, question=st.…), or budget_test(plain, props={'question': st.…})"
        ),
    ),
    "by place": (
        by_place,
        (
            "props_for(): the prop question of by_place can't be given by name, as props are; test a function that gives "
            "it: def shown(question: …): return by_place(question)"
        ),
    ),
    "enum without members": (
        in_no_mood,
        (
            "props_for(): the prop mood of in_no_mood has the type Mood, which no strategy is known for; give one: "
            "props_for(in_no_mood, mood=st.…), or budget_test(in_no_mood, props={'mood': st.…}); or for every prompt: "
            "st.register_type_strategy(Mood, st.builds(Mood, …))"
        ),
    ),
    "function": (
        calls_back,
        (
            "props_for(): the prop callback of calls_back has the type collections.abc.Callable[[], str], which no "
            "strategy is known for; give one: props_for(calls_back, callback=st.…), or budget_test(calls_back, "
            "props={'callback': st.…})"
        ),
    ),
    "deep inside": (
        nested,
        (
            "props_for(): an item of the prop holders of nested (Holder.db) has the type Database, which no strategy is "
            "known for; give one: props_for(nested, holders=st.…), or budget_test(nested, props={'holders': st.…}); or "
            "for every prompt: st.register_type_strategy(Database, st.builds(Database, …))"
        ),
    ),
}


@pytest.mark.parametrize(("function", "message"), list(REFUSED.values()), ids=list(REFUSED))
def test_what_is_not_known_says_what_would_do(function: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        props_for(function)
    assert str(caught.value) == message


def test_strategies_and_values_can_be_given() -> None:
    made = find(props_for(needs, db=Database("x"), question=st.just("q")), lambda _: True, settings=FIND)
    assert (made["db"].url, made["question"]) == ("x", "q")
    with pytest.raises(ArgumentTypeError, match=r"needs takes no prop questoin; did you mean question\?"):
        props_for(needs, db=None, questoin="a")
    with pytest.raises(ArgumentTypeError, match="prompt takes no prop a; it takes none"):
        props_for(scope["x"], a=1)


def test_registered_strategies_are_used() -> None:
    st.register_type_strategy(Database, st.builds(Database, st.just("registered")))
    from hypothesis.strategies._internal import types

    try:
        made = find(props_for(needs), lambda _: True, settings=FIND)
    finally:
        types._global_type_lookup.pop(Database)
    assert made["db"].url == "registered"


def test_components_have_children() -> None:
    @component
    def quoted(kids: list[Node], *, source: str) -> Node:
        return [source, kids]

    made = find(props_for(quoted), lambda _: True, settings=FIND)
    assert (set(made), made["source"]) == ({"kids", "source"}, "")


class Prompt:
    def __call__(self, question: str) -> Node:
        return question


def test_other_callables() -> None:
    assert find(props_for(Prompt()), lambda _: True, settings=FIND) == {"question": ""}
    partly = functools.partial(needs, Database("a"))
    assert find(props_for(partly), lambda _: True, settings=FIND) == {"question": ""}

    def anything(**props: Any) -> Iterator[Node]:
        yield from props

    assert find(props_for(anything, a=1), lambda _: True, settings=FIND) == {"a": 1}

    @prompt(id="registered-for-props")
    def registered(question: str) -> Node:
        return question

    for each in (registered, find_prompt("registered-for-props")):
        assert find(props_for(each), lambda _: True, settings=FIND) == {"question": ""}


# ------------------------------------------------------------------------------------------ templates


def template(front: str) -> Any:
    return Environment().from_string(f"---\n{front}\n---\n{{1}}")


FRONT_MATTER: dict[str, Callable[[Any], bool]] = {
    "str": lambda x: isinstance(x, str),
    "int": lambda x: type(x) is int and x > 9,
    "float": lambda x: type(x) is float,
    "bool": lambda x: x is True,
    "list": lambda x: len(x) == 2 and isinstance(x[0], str),
    "dict": lambda x: len(x) == 2,
    "any": lambda x: isinstance(x, str),
    "str?": lambda x: x is None,
}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "holds"), list(FRONT_MATTER.items()), ids=list(FRONT_MATTER))
def test_types_of_front_matter(kind: str, holds: Callable[[Any], bool]) -> None:
    front = template(f"props:\n  x: {kind}\n  y: int = 1")
    assert find(props_for(front), lambda p: "x" in p and holds(p["x"]) and "y" not in p, settings=FIND)


EXAMPLES = """props:
  turns: list
  options: any
examples:
  one: {turns: [{speaker: Ann, words: [Hi], n: 1}], options: 2.5}
  two: {turns: [{speaker: Bob, words: [], end: true}], options: {a: b}}"""


@pytest.mark.slow
def test_examples_show_what_lists_hold() -> None:
    strategy = props_for(template(EXAMPLES))

    def another(props: Any) -> bool:
        return any(turn["speaker"] not in ("Ann", "Bob") for turn in props["turns"])

    made = find(strategy, another, settings=FIND)
    assert made["turns"] == [{"speaker": "", "words": []}]
    assert find(strategy, lambda p: p["options"] == {"a": ""}, settings=FIND)
    assert find(strategy, lambda p: any(type(turn.get("n")) is int for turn in p["turns"]), settings=FIND)
    assert find(strategy, lambda p: type(p["options"]) is float, settings=FIND)


def test_an_example_as_it_stands_is_drawn_too() -> None:
    strategy = props_for(template(EXAMPLES), options="given")
    exact = [{"speaker": "Ann", "words": ["Hi"], "n": 1}]
    assert find(strategy, lambda p: p["turns"] == exact, settings=FIND)["options"] == "given"


def test_a_template_without_declared_props_has_those_of_its_examples() -> None:
    front = template("examples:\n  a: {x: 1, d: 2024-01-01}\n  b: {x: [2]}")
    assert find(props_for(front, z=3), lambda p: type(p["x"]) is list, settings=FIND)["z"] == 3
    assert find(props_for(front), lambda p: "d" in p, settings=FIND)["d"] == dt.date(2024, 1, 1)
