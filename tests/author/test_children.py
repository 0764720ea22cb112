"""What a child may be: every kind, accepted or refused, with the message that its author reads."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import csv
import decimal
import enum
import fractions
import functools
import io
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from priompt_py.author.children import spread
from priompt_py.author.component import component
from priompt_py.author.messages import user_message
from priompt_py.author.tags import br, first, isolate, scope
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.model.elements import AsyncNode, Node, Scope
from tests.ids import stable_id


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not this"


class Whole(int):
    def __str__(self) -> str:
        return "not this"

    def __int__(self) -> int:
        return 99


class Real(float):
    def __str__(self) -> str:
        return "not this"

    def __float__(self) -> float:
        return 99.0


class Level(enum.IntEnum):
    HIGH = 2


class Color(enum.StrEnum):
    RED = "red"


class Numpy:
    """Says that it is numpy's, so that numpy need not be here."""

    def __init__(self, shown: str) -> None:
        self.shown = shown

    def __init_subclass__(cls) -> None:
        cls.__module__ = "numpy"
        cls.__qualname__ = cls.__name__.lower().rstrip("_")

    def __repr__(self) -> str:
        return self.shown


class Int64(Numpy):
    def __index__(self) -> int:
        return 7

    __int__ = __index__


class Bool_(Numpy):  # noqa: N801 - numpy's name
    def __bool__(self) -> bool:
        return True


class NDArray(Numpy):
    def __iter__(self) -> Iterator[int]:
        return iter([1, 2])

    def __len__(self) -> int:
        return 2


class Float64(Real):
    """As numpy.float64, which is a float too."""


class Pair(NamedTuple):
    a: str
    b: str


def lines(*items: Any) -> Iterator[Any]:
    yield from items


async def fetched() -> Node:
    return "text"


async def fetched_from(url: str) -> Node:
    return url


class AsyncObject:
    async def method(self) -> Node:
        return "text"


# ------------------------------------------------------------------------------------------ accepted

ACCEPTED: list[tuple[Any, tuple[Any, ...]]] = [
    ("text", ("text",)),
    ("", ("",)),
    ("é\n\x00", ("é\n\x00",)),
    (Text("sub"), ("sub",)),
    (Color.RED, ("red",)),
    (0, (0,)),
    (-3, (-3,)),
    (10**30, (1000000000000000000000000000000,)),
    (10**4_299, (10**4_299,)),
    (1.0, (1.0,)),
    (-0.0, (-0.0,)),
    (1e21, (1e21,)),
    (Whole(5), (5,)),
    (Real(0.1), (0.1,)),
    (Float64(0.1), (0.1,)),
    (Level.HIGH, (2,)),
    (None, (None,)),
    (True, (True,)),
    (False, (False,)),
    (br, (br,)),
    (scope["x"], (scope["x"],)),
    ([], ()),
    ((), ()),
    (["a", 1, None], ("a", 1, None)),
    (("a", ["b", ("c", [[]], "d")]), ("a", "b", "c", "d")),
    (Pair("x", "y"), ("x", "y")),
    (lines("a", lines("b", ["c"])), ("a", "b", "c")),
    (iter(["a"]), ("a",)),
    (map(str, [1, 2]), ("1", "2")),
    (zip("ab", "cd", strict=True), ("a", "c", "b", "d")),
    (reversed(["a", "b"]), ("b", "a")),
    (csv.reader(["a,b"]), ("a", "b")),
    ((x for x in ["a", 0]), ("a", 0)),
]


@pytest.mark.parametrize(("given", "children"), ACCEPTED, ids=stable_id)
def test_accepted(given: Any, children: tuple[Any, ...]) -> None:
    made = scope[given].children
    assert made == children
    assert [type(child) for child in made] == [type(child) for child in children]


def test_the_exact_text_of_numbers() -> None:
    """As Python writes them, whatever the locale: no digit lost, no thousands separators."""
    numbers = [1.0, 1e21, 1e-07, 0.30000000000000004, -0.0, 10**30, Level.HIGH, Float64(0.1), 7]
    assert [str(child) for child in scope[numbers].children] == [
        "1.0",
        "1e+21",
        "1e-07",
        "0.30000000000000004",
        "-0.0",
        "1000000000000000000000000000000",
        "2",
        "0.1",
        "7",
    ]


def test_async_nodes() -> None:
    partial = functools.partial(fetched_from, "u")
    method = AsyncObject().method
    for source in (fetched, partial, method):
        (node,) = scope[source].children
        assert isinstance(node, AsyncNode)
        assert node.source is source
    coroutine = fetched()
    (node,) = scope["a", coroutine].children[1:]
    assert isinstance(node, AsyncNode)
    assert node.source is coroutine
    assert node.name == "fetched"
    coroutine.close()


# ------------------------------------------------------------------------------------------ refused


def anything(value: object) -> Any:
    return value


async def numbers() -> AsyncIterator[int]:
    yield 1


class Plain:
    def __repr__(self) -> str:
        return "<plain>"


class Callme:
    def __call__(self) -> str:
        return "x"


@component
def quoted(children: Node) -> Node:
    return children


def helper() -> str:
    return "x"


used_up = lines("a")
list(used_up)

REFUSED: list[tuple[Any, str]] = [
    (b"x", "a bytes can't stand in a prompt; decode it to text, or use image(data=...)"),
    (bytearray(b"x"), "a bytearray can't stand in a prompt; decode it to text, or use image(data=...)"),
    (memoryview(b"x"), "a memoryview can't stand in a prompt; decode it to text, or use image(data=...)"),
    ({"a": 1}, "a dict can't stand in a prompt; write out its text, or give a list"),
    (
        types.MappingProxyType({}),
        "a mappingproxy can't stand in a prompt; write out its text, or give a list",
    ),
    ({1, 2}, "a set can't stand in a prompt; write out its text, or give a list"),
    (frozenset(), "a frozenset can't stand in a prompt; write out its text, or give a list"),
    ({"a": 1}.keys(), "a dict_keys can't stand in a prompt; write out its text, or give a list"),
    (
        {"a": 1}.values(),
        "a dict_values can't stand in a prompt (got dict_values([1])); give its items: list(...)",
    ),
    (range(3), "a range can't stand in a prompt (got range(0, 3)); give its items: list(...)"),
    (
        collections.deque("ab"),
        "a collections.deque can't stand in a prompt (got deque(['a', 'b'])); give its items: list(...)",
    ),
    (
        NDArray("array([1, 2])"),
        "a numpy.ndarray can't stand in a prompt (got array([1, 2])); give its items: list(...)",
    ),
    (
        Int64("np.int64(7)"),
        "a numpy.int64 can't stand in a prompt (got np.int64(7)); give its text: str(...)",
    ),
    (Bool_("np.True_"), "a numpy.bool can't stand in a prompt (got np.True_); give its text: str(...)"),
    (3 + 0j, "a complex can't stand in a prompt (got (3+0j)); give its text: str(...)"),
    (
        decimal.Decimal("1.10"),
        "a decimal.Decimal can't stand in a prompt (got Decimal('1.10')); give its text: str(...)",
    ),
    (
        fractions.Fraction(1, 3),
        "a fractions.Fraction can't stand in a prompt (got Fraction(1, 3)); give its text: str(...)",
    ),
    (..., "an ellipsis can't stand in a prompt (got Ellipsis); give its text: str(...)"),
    (io.StringIO("x"), "an _io.StringIO can't stand in a prompt; give its text: file.read()"),
    (helper, "the function 'helper' can't stand in a prompt; call it: helper(...)"),
    (isolate, "the function 'isolate' can't stand in a prompt; call it: isolate(...)"),
    (len, "the builtin_function_or_method 'len' can't stand in a prompt; call it: len(...)"),
    (Scope, "the type 'Scope' can't stand in a prompt; call it: Scope(...)"),
    (
        quoted,
        "the priompt_py.author.component.Component 'quoted' can't stand in a prompt; call it: quoted(...)",
    ),
    (functools.partial(helper), "a functools.partial can't stand in a prompt; call it"),
    (fetched_from, "the async function 'fetched_from' needs arguments; call it: fetched_from(...)"),
    (used_up, "the generator 'lines' is used up already; make a new one, or give its items as a list"),
    (float("nan"), "got nan: only finite numbers have a text"),
    (float("inf"), "got inf: only finite numbers have a text"),
    (Real("-inf"), "got -inf: only finite numbers have a text"),
    (10**5_000, "an int of 16610 bits has too many digits to print; give its text"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_refused(given: Any, message: str) -> None:
    for tag, name in ((scope, "scope"), (user_message, "user"), (first(name="n"), "first[name=n]")):
        with pytest.raises(PromptError) as caught:
            tag["a", None, [given]]
        assert str(caught.value) == f"{name} > 2: {message}"
        assert isinstance(caught.value, (ArgumentTypeError, ArgumentValueError))
    with pytest.raises(PromptError) as caught:
        spread(given, "root")
    assert str(caught.value) == f"root > 0: {message}"


def test_refused_objects_of_other_kinds() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        scope(key="k")[anything(Plain())]
    assert str(caught.value) == (
        f"scope[key=k] > 0: a {__name__}.Plain can't stand in a prompt (got <plain>); give its text: str(...)"
    )
    with pytest.raises(ArgumentTypeError, match=r"call it$"):
        scope[anything(Callme())]
    with pytest.raises(ArgumentTypeError, match="collect its items in an async component"):
        scope[anything(numbers())]
    with pytest.raises(ArgumentTypeError, match="call it: numbers"):
        scope[anything(numbers)]


def test_futures_are_refused() -> None:
    async def main() -> None:
        task = asyncio.ensure_future(fetched())
        with pytest.raises(
            ArgumentTypeError, match=r"an _asyncio\.Task can't .* give a coroutine or an async function"
        ):
            scope[anything(task)]
        await task

    asyncio.run(main())


def test_open_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("line\n", "utf-8")
    with (
        path.open(encoding="utf-8") as file,
        pytest.raises(ArgumentTypeError, match=r"give its text: file\.read\(\)"),
    ):
        scope[file]
    with pytest.raises(ArgumentTypeError, match=r"PosixPath|WindowsPath"):
        scope[anything(path)]


def test_a_coroutine_that_was_awaited() -> None:
    coroutine = fetched()
    with contextlib.suppress(StopIteration):
        coroutine.send(None)
    with pytest.raises(ArgumentValueError) as caught:
        scope["a", coroutine]
    assert str(caught.value) == (
        "scope > 1: the coroutine 'fetched' was awaited already; give the async function itself, or call it again"
    )
