"""The JSON form of props: what a dump says, and that it gives the same props again."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import json
import math
import pathlib
import types
import uuid
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, TypeVar, Union

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.author.component import component
from priompt_py.author.messages import user_message
from priompt_py.author.tags import br, empty, scope
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Node
from priompt_py.model.strict_json import parse_json
from priompt_py.preview.decode import decode, hints_of_function
from priompt_py.preview.encode import RefusedError, encode
from priompt_py.preview.hints import ANY, hints_of, options_of
from priompt_py.preview.recording import dump_text
from tests.ids import stable_id
from tests.preview.prop_types import (
    Access,
    Account,
    Box,
    Color,
    Level,
    Lossy,
    Model,
    Names,
    Note,
    Options,
    OtherInit,
    OwnInit,
    Page,
    Point,
    Score,
    Tone,
    Turn,
    Unread,
    UserId,
)

NAIVE = dt.datetime.fromisoformat("2024-05-01T10:00:00")
if TYPE_CHECKING:
    from priompt_py.errors import PromptError as Unreadable

PARIS = zoneinfo.ZoneInfo("Europe/Paris")
T = TypeVar("T", bound=Page)
B64 = {"$priompt": "bytes", "value": "aGk="}


def marked(kind: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"$priompt": kind, "value": value, **more}


def there_and_back(value: object, annotation: Any) -> tuple[Any, Any]:
    """The JSON form, and what it gives after it was a text."""
    options = options_of(annotation)
    form = encode(value, options, ("prop",))
    text = dump_text({"prop": form})
    text.encode()
    return form, decode(parse_json(text)["prop"], options, ("prop",))


FORMS: list[tuple[object, Any, Any]] = [
    # value, annotation, JSON form
    ("a", Any, "a"),
    ("a", str, "a"),
    ("a", bytes, marked("plain", "a")),
    ("a", str | bytes, "a"),
    ("a", Color, marked("plain", "a")),
    (3, float, 3),
    (True, int, True),
    (-0.0, float, -0.0),
    (2, Level, marked("plain", 2)),
    (None, str, None),
    (10**30, int, 10**30),
    (math.inf, float, marked("float", "inf")),
    ([1, [2]], Any, [1, [2]]),
    ([1], tuple[int, ...], marked("list", [1])),
    ({"a": 1}, Any, {"a": 1}),
    ({1: "a"}, Any, marked("dict", [[1, "a"]])),
    ({1: Page("a")}, dict[int, Page], marked("dict", [[1, {"text": "a", "number": 1, "parts": []}]])),
    ({Color.RED: 1}, dict[Color, int], marked("dict", [["RED", 1]])),
    ({"RED": 1}, dict[Color, int], marked("dict", [[marked("plain", "RED"), 1]])),
    ({(1, b"hi"): 1}, Mapping[tuple[int, bytes], int], marked("dict", [[[1, "aGk="], 1]])),
    ({dt.date(2024, 5, 1): b"hi"}, dict[dt.date, bytes] | None, marked("dict", [["2024-05-01", "aGk="]])),
    ({"$priompt": 1}, Any, marked("dict", [["$priompt", 1]])),
    ({"text": "a"}, Page, marked("dict", [["text", "a"]])),
    ((1, (2,)), Any, marked("tuple", [1, marked("tuple", [2])])),
    ((1, b"hi"), tuple[int, bytes], [1, "aGk="]),
    ((1, b"hi"), tuple[int], [1, B64]),
    ((b"hi",), tuple[bytes, ...], ["aGk="]),
    ((b"hi",), Sequence[bytes], marked("tuple", [B64])),
    ([b"hi"], Sequence[bytes], ["aGk="]),
    ([b"hi"], list[bytes] | None, ["aGk="]),
    ([b"hi"], list[bytes] | list[str], [B64]),
    ({3, 1}, Any, marked("set", [1, 3])),
    ({b"hi"}, set[bytes], ["aGk="]),
    ({b"hi"}, AbstractSet[bytes], marked("set", ["aGk="])),
    (frozenset({1}), frozenset[int], [1]),
    (b"hi", Any, B64),
    (b"hi", bytes, "aGk="),
    (b"hi", bytes | None, "aGk="),
    (b"hi", bytes | str, B64),
    (bytearray(b"hi"), bytes, marked("bytearray", "aGk=")),
    (dt.date(2024, 5, 1), dt.date, "2024-05-01"),
    (dt.date(2024, 5, 1), Any, marked("date", "2024-05-01")),
    (dt.time(1, 2, fold=1), dt.time, marked("time", "01:02:00", fold=1)),
    (NAIVE, dt.datetime, "2024-05-01T10:00:00"),
    (NAIVE, dt.date, marked("datetime", "2024-05-01T10:00:00")),
    (dt.datetime(2024, 5, 1, tzinfo=dt.UTC), dt.datetime, "2024-05-01T00:00:00+00:00"),
    (dt.datetime(2024, 5, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))), dt.datetime, "2024-05-01T00:00:00+02:00"),
    (dt.datetime(2024, 5, 1, tzinfo=PARIS), dt.datetime, marked("datetime", "2024-05-01T00:00:00", zone="Europe/Paris")),
    (dt.timedelta(1, 2, 3), dt.timedelta, marked("timedelta", [1, 2, 3])),
    (decimal.Decimal("1.10"), decimal.Decimal, "1.10"),
    (decimal.Decimal("1.10"), Any, marked("decimal", "1.10")),
    (fractions.Fraction(-1, 3), fractions.Fraction, "-1/3"),
    (uuid.UUID(int=1), uuid.UUID, "00000000-0000-0000-0000-000000000001"),
    (pathlib.Path("a") / "b", pathlib.Path, "a/b"),
    (pathlib.Path("a"), pathlib.PurePath, "a"),
    (pathlib.Path("a"), Any, marked("path", "a")),
    (br, Any, marked("node", [{"type": "br"}])),
    (scope(p=1)["b"], Node, marked("node", [{"type": "scope", "p": 1, "children": ["b"]}])),
    (["a", user_message["b"]], Node, ["a", marked("node", [{"type": "user", "children": ["b"]}])]),
    (Color.BLUE, Color, "BLUE"),
    (Color.NO_JSON, Color, "NO_JSON"),
    (Level.HIGH, Level | None, "HIGH"),
    (Tone.DRY, str | Tone, marked("class", "DRY", name="Tone")),
    (Color.RED, Literal[Color.RED], "RED"),
    (Access.READ, Access, "READ"),
    (Access.READ | Access.WRITE, Access, marked("class", 3, name="Access")),
    (Page("a"), Page, {"text": "a", "number": 1, "parts": []}),
    (Page("a", parts=(Page("b"),)), Page, {"text": "a", "number": 1, "parts": [{"text": "b", "number": 1, "parts": []}]}),
    (Page("a"), Optional[Page], {"text": "a", "number": 1, "parts": []}),  # noqa: UP045 - both forms
    (Page("a"), Union[Page, Turn], marked("class", {"text": "a", "number": 1, "parts": []}, name="Page")),  # noqa: UP007
    (Page("a"), Page | str, {"text": "a", "number": 1, "parts": []}),
    (Page("a"), Page | dict[str, int], marked("class", {"text": "a", "number": 1, "parts": []}, name="Page")),
    (Page("a"), Annotated[Page, "x"], {"text": "a", "number": 1, "parts": []}),
    (Page("a"), T, {"text": "a", "number": 1, "parts": []}),
    (Note("a"), Note, {"text": "a"}),
    (Turn("me", [Color.RED]), Turn, {"by": "me", "colors": ["RED"]}),
    (Point(1), Point, {"x": 1, "y": 0.5}),
    (Box((1,)), Box[Any], {"content": marked("tuple", [1]), "others": marked("tuple", [])}),
    ({"page": Page("a"), "tone": Tone.DRY}, Options, {"page": {"text": "a", "number": 1, "parts": []}, "tone": "DRY"}),
    (UserId(3), UserId, 3),
    (Model(theName="a", inner=Model(theName="b")), Model, {"theName": "a", "pages": [], "inner": {"theName": "b", "pages": [], "inner": None}}),
    (Names(["a"]), Names, marked("class", ["a"], name="Names")),
    ("x\ud83dy", str, "x\ud83dy"),
    ("你好 😀 é", str, "你好 😀 é"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "annotation", "form"), FORMS, ids=stable_id)
def test_forms(value: object, annotation: Any, form: Any) -> None:
    met, again = there_and_back(value, annotation)
    assert met == form
    assert type(met) is type(form)
    assert again == value
    assert type(again) is type(value) or value is br


def test_what_equality_does_not_see() -> None:
    assert str(there_and_back(-0.0, float)[1]) == "-0.0"
    assert str(there_and_back(math.nan, float)[1]) == "nan"
    assert str(there_and_back(decimal.Decimal("1.10"), Any)[1]) == "1.10"
    _, again = there_and_back(dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=PARIS), Any)
    assert (again.tzname(), again.fold) == ("CET", 1)
    assert there_and_back({1.0: True, "b": (2,)}, Any)[1] == {1.0: True, "b": (2,)}
    assert list(there_and_back({"b": 1, "a": 2}, Any)[1]) == ["b", "a"]
    # Two halves of one character become it: that is what they are rendered as.
    assert there_and_back("x\ud83d\udc4dy", str)[1] == "x\U0001f44dy"


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, dt.UTC, PARIS])),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.uuids(),
    st.sampled_from(list(Color) + list(Level) + list(Tone)),
    st.builds(Point, st.integers(), st.floats(allow_nan=False)),
    st.builds(Note, st.text()),
)
KEYS = st.one_of(
    st.text(max_size=9).filter(lambda key: not key.startswith("DO_NOT_DUMP")),
    st.integers(),
    st.binary(max_size=3),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
        st.builds(Box, inner, st.lists(inner, max_size=2)),
        st.frozensets(st.integers() | st.binary(max_size=3), max_size=3),
    ),
    max_leaves=12,
)
LEAF: Any = str | bytes | Color | Level | Tone | Point | Note | Box[Any] | dt.date | decimal.Decimal
ANNOTATIONS: list[Any] = [LEAF, LEAF | None, LEAF | list[LEAF], LEAF | dict[str, LEAF] | tuple[LEAF, ...]]


@given(VALUES, st.sampled_from(ANNOTATIONS))
def test_every_value_comes_back_or_is_refused(value: object, annotation: Any) -> None:
    try:
        _, again = there_and_back(value, annotation)
    except RefusedError as refused:
        problem = refused.problem
    else:
        assert again == value
        assert repr(again) == repr(value) or "frozenset" in repr(value)
        return
    # Inside of what is not annotated nothing says the class.
    assert "and no annotation that can be read says so" in problem


# ------------------------------------------------------------------------------------------ refused


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@component
def made(children: Node) -> Node:
    return children


class TextLike(str):
    __slots__ = ()


SELF: list[Any] = []
SELF.append(SELF)
NO_SAY = (
    ", and no annotation that can be read says so; annotate it, or give the prompt dehydrate= and hydrate="
)
TURN = Turn("me")
del TURN.colors

REFUSED: list[tuple[object, Any, str]] = [
    (object, Any, "prop: a type has no JSON form; give the prompt dehydrate= and hydrate="),
    (iter([1]), Any, "prop: a list_iterator has no JSON form; give the prompt dehydrate= and hydrate="),
    ([{"a": TextLike("x")}], Any, "prop[0].a: a tests.preview.test_prop_json.TextLike has no JSON form; give the prompt dehydrate= and hydrate="),
    (types.MappingProxyType({}), Mapping[str, int], "prop: a mappingproxy has no JSON form; give the prompt dehydrate= and hydrate="),
    (Page("a"), Any, f"prop: is a Page{NO_SAY}"),
    (Page("a"), Turn, f"prop: is a Page{NO_SAY}"),
    ({1: [Tone.DRY]}, dict[int, list[str]], f"prop[1][0]: is a Tone{NO_SAY}"),
    ({(1,): Color.RED}, Any, f'prop["(1,)"]: is a Color{NO_SAY}'),
    (OwnInit(), OwnInit, "prop: a tests.preview.prop_types.OwnInit has no JSON form; give the prompt dehydrate= and hydrate="),
    (OtherInit(["a"]), OtherInit, "prop: the constructor of OtherInit takes other arguments than its fields"),
    (TURN, Turn, "prop: its field 'colors' has no value"),
    (Page("a", parts=(Page("b", parts=(object(),)),)), Page, "prop.parts[0].parts[0]: an object has no JSON form; give the prompt dehydrate= and hydrate="),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    (Lossy(gone=2), Lossy, "prop: what model_dump() of Lossy gives makes another one"),
    (Score.model_construct(points=["x"]), Score, "prop: what model_dump() of Score gives makes another one"),
    (Score(points=[math.nan]), Score, "prop.points[0]: nan is no JSON number"),
    (10**5000, int, "prop: an int of 16610 bits has too many digits"),
    (deep(101), Any, "prop[0][0][0][0][0]: nested more than 100 deep"),
    (SELF, Any, "prop[0][0][0][0][0]: nested more than 100 deep"),
    (empty(tokens=len), Any, "prop: this element has no JSON form: $[0].tokens: this is a function, which has no JSON form"),
    (made["a"], Any, "prop: this element has no JSON form: $[0]: the component 'made' is a function, which has no JSON form"),
    (dt.datetime(2024, 5, 1, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET")), Any,
     "prop: the time zone datetime.timezone(datetime.timedelta(seconds=3600), 'CET') has no JSON form; zones of zoneinfo and plain offsets have"),
    (Page("a"), Page | type("Page", (Page,), {}) | str, "prop: its annotation names two classes that are called Page"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "annotation", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(value: object, annotation: Any, message: str) -> None:
    with pytest.raises(RefusedError) as caught:
        encode(value, options_of(annotation), ("prop",))
    assert str(caught.value) == message


# ------------------------------------------------------------------------------------------ typed by hand

BY_HAND: list[tuple[Any, Any, object]] = [
    ({"text": "a", "parts": [{"text": "b"}]}, Page, Page("a", parts=(Page("b"),))),
    ({"by": "a"}, Page | Turn, Turn("a")),
    ("red", Color, Color.RED),
    ("RED", Color, Color.RED),
    (2, Level | None, Level.HIGH),
    (3, Access, Access.READ | Access.WRITE),
    ("1.10", decimal.Decimal, decimal.Decimal("1.10")),
    (["a"], set[str], {"a"}),
    (["RED"], frozenset[Color], frozenset({Color.RED})),
    ([1, "aGk="], tuple[int, bytes], (1, b"hi")),
    ("2024-05-01", dt.date | dt.time, dt.date(2024, 5, 1)),
    ("x", Callable[[], int], "x"),
    ({"page": {"text": "a"}}, Options, {"page": Page("a")}),
    ({"content": "x"}, Box[Page], Box("x")),
    (Page("a"), Page, Page("a")),
    ({"theName": "a"}, Model, Model(theName="a")),
    ([["a"]], list[list[str] | None], [["a"]]),
    ({"RED": "2024-05-01"}, dict[Color, dt.date], {Color.RED: dt.date(2024, 5, 1)}),
]


@pytest.mark.parametrize(("data", "annotation", "value"), BY_HAND, ids=stable_id)
def test_props_typed_by_hand(data: Any, annotation: Any, value: object) -> None:
    assert decode(data, options_of(annotation), ("prop",)) == value


WRONG: list[tuple[Any, Any, str]] = [
    ("x", dt.date, "prop: needs a date such as 2024-05-01, got 'x' (str)"),
    ("é", bytes, "prop: needs base64 text, got 'é' (str)"),
    ("1/0", fractions.Fraction, "prop: needs a fraction such as 1/3, got '1/0' (str)"),
    ("1e999999999", fractions.Fraction, "prop: needs a fraction such as 1/3, got '1e999999999' (str)"),
    ("x", Color, "prop: needs one of RED, BLUE, NO_JSON, got 'x' (str)"),
    (4, Access, "prop: needs one of READ, WRITE, got 4 (int)"),
    (True, Level, "prop: needs one of LOW, HIGH, got True (bool)"),
    ({"txt": "a"}, Page, "prop: Page has no field 'txt'; it has text, number, parts"),
    ({}, Page, "prop: Page needs text"),
    ({"text": "a", "parts": [{}]}, Page, "prop.parts[0]: Page needs text"),
    ({}, Page | Turn, "prop: {} (dict) fits none of its types: prop: Page needs text; prop: Turn needs by"),
    ([[]], set[Any], "prop: its items can't be those of a set"),
    (marked("set", [[1]]), Any, "prop: its items can't be those of a set"),
    (marked("plain", []), Any, "prop: '$priompt' can't be 'plain' (str) with the value [] (list)"),
    (marked("os.system", "true"), Any, "prop: '$priompt' can't be 'os.system' (str) with the value 'true' (str)"),
    ({"$priompt": []}, Any, "prop: an object with '$priompt' has a value and nothing else, got {'$priompt': []} (dict)"),
    ({"$priompt": [], "value": 1}, Any, "prop: '$priompt' can't be [] (list) with the value 1 (int)"),
    (marked("bytes", "aGk=", zone=1), Any, "prop: an object with '$priompt' has a value and nothing else, got {'$priompt': 'bytes', 'value': 'aGk=', 'zone': 1} (dict)"),
    (marked("bytes", 1), Any, "prop: needs base64 text, got 1 (int)"),
    (marked("dict", [1]), Any, "prop: a dict is a list of pairs, got 1 (int)"),
    (marked("dict", [[[], 1]]), Any, "prop: [] (list) can't be the key of a dict"),
    (marked("dict", [[1, marked("class", 1, name="X")]]), Any, "prop[\"1\"]: its annotation names no class 'X' (str)"),
    (marked("timedelta", [1]), Any, "prop: needs days, seconds and microseconds, got [1] (list)"),
    (marked("timedelta", [10**20, 0, 0]), Any, "prop: needs days, seconds and microseconds, got [100000000000000000000, 0, 0] (list)"),
    (marked("node", [{"type": "scop"}]), Any, "prop: no node: $[0].type: no element is called 'scop'; did you mean 'scope'?"),
    (marked("class", {}, name="os.system"), Any, "prop: its annotation names no class 'os.system' (str)"),
    (marked("class", {}, name="str"), str, "prop: its annotation names no class 'str' (str)"),
    (marked("class", 1, name="Page"), Page | str, "prop: needs an object, got 1 (int)"),
    (marked("class", {"text": "a"}, name="Model"), Model, "1 validation error"),
    (marked("datetime", "2024-05-01", zone="No/Where"), Any, "prop: there is no time zone 'No/Where' (str) here"),
    (marked("datetime", "2024-05-01", zone="../../etc/passwd"), Any, "prop: there is no time zone '../../etc/passwd' (str) here"),
    (marked("time", "10:00", fold=2), Any, "prop: fold is 0 or 1, got 2 (int)"),
    (deep(101), Any, "prop[0][0][0][0][0]: nested more than 100 deep"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "annotation", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_props(data: Any, annotation: Any, message: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        decode(data, options_of(annotation), ("prop",))
    if "validation error" in message:  # the rest are pydantic's words
        assert str(caught.value).startswith(f"prop: {message}")
    else:
        assert str(caught.value) == message


def test_a_class_that_refuses_its_fields() -> None:
    @attrs.define
    class Half:
        number: int

        def __attrs_post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("odd")

    with pytest.raises(ArgumentValueError) as caught:
        decode({"number": 3}, options_of(Half), ("prop",))
    assert str(caught.value) == (
        "prop: test_a_class_that_refuses_its_fields.<locals>.Half refuses its fields: odd"
    )


# ------------------------------------------------------------------------------------------ annotations


def test_annotations_that_cant_be_read_count_as_none() -> None:
    assert hints_of(Unread) == {"page": (Page,), "other": ANY}

    def ask(page: Page, other: Unreadable, *, color: Color) -> Node:
        return None

    assert hints_of_function(ask) == {"page": (Page,), "other": ANY, "color": (Color,), "return": ANY} | {
        "return": options_of(Node)
    }


def test_secrets_of_pydantic_are_not_written() -> None:
    with pytest.raises(RefusedError, match="what model_dump"):
        encode(Account.model_validate({"password": "hunter2"}), options_of(Account), ("prop",))


def test_no_json_is_written() -> None:
    with pytest.raises(RefusedError, match=r"^a: is no JSON: "):
        dump_text({"a": object()})
    assert json.loads(dump_text({})) == {}
