"""Elements are values: equality, hash, repr, copies and pickles, at any depth."""

from __future__ import annotations

import copy
import pickle
import threading
import time
import typing
from typing import Any

import attrs
import pytest

from priompt_py.author.component import component
from priompt_py.author.messages import (
    assistant_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    br,
    cache_break,
    capture,
    config,
    empty,
    fallback,
    first,
    hr,
    isolate,
    scope,
    token_break,
)
from priompt_py.author.tools import tool_definition
from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import (
    AsyncNode,
    Child,
    ComponentCall,
    Element,
    Node,
    children_of,
    element_type,
    tag_name,
    turn,
    walk,
)
from tests.ids import stable_id
from tests.model.deep import DEEP, in_thread


def on_include() -> None: ...


def on_output(message: object) -> None: ...


async def fetched() -> Node:
    return "text"


@component
def quoted(children: Node, *, source: str = "") -> Node:
    return ["From ", source, ": ", children]


EXAMPLES: list[Element] = [
    scope,
    scope(p=5, name="docs", key="k", on_include=on_include)["text", br, 3, 2.5, None, True],
    first,
    first(name="f")[scope(p=1)["a"], "b"],
    fallback,
    fallback(prel=-1)["long", "short"],
    isolate(token_limit="50% - 3")["inside"],
    at_most(token_limit=7)["inside"],
    empty(tokens=600),
    br,
    br(p=3),
    token_break,
    hr,
    cache_break,
    capture(on_output=on_output),
    config(stop=["a", "b"], max_response_tokens="tokens_reserved", extra={"seed": [1, {"x": None}]}),
    system_message["You are terse."],
    user_message,
    user_message(name="Ann")["Look", image(url="https://example.org/a.png", dimensions=(3, 4))],
    assistant_message(tool_calls=[{"id": "1", "name": "look", "arguments": {"at": "sky"}}]),
    tool_message(tool_call_id="1", is_error=True)["none"],
    part(provider="anthropic", data={"type": "thinking"}, tokens=3),
    tool_definition(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}}),
    quoted(source="wiki")["text"],
    AsyncNode(source=fetched),
]


def loads(dumped: bytes) -> Any:
    return pickle.loads(dumped)  # noqa: S301 - our own


def nested(depth: int, tag: Any = scope, inner: Node = "x") -> Element:
    node: Any = tag[inner]
    for _ in range(depth - 1):
        node = tag[node]
    made: Element = node
    return made


def doubled(depth: int) -> Element:
    """An element that stands 2**depth times in its tree, and is there once."""
    node: Element = scope["x"]
    for _ in range(depth):
        node = scope[node, node]
    return node


# ------------------------------------------------------------------------------------------ equality


@pytest.mark.parametrize("element", EXAMPLES, ids=stable_id)
def test_copies_are_the_element_itself_and_pickles_are_equal(element: Element) -> None:
    assert copy.copy(element) is element
    assert copy.deepcopy([element])[0] is element
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = loads(pickle.dumps(element, protocol))
        assert again == element
        assert type(again) is type(element)
        assert hash(again) == hash(element)
        assert repr(again) == repr(element)


def test_all_examples_differ() -> None:
    for i, left in enumerate(EXAMPLES):
        for j, right in enumerate(EXAMPLES):
            assert (left == right) is (i == j)
    assert len(set(EXAMPLES)) == len(EXAMPLES)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (scope(p=1)["a"], scope(p=2)["a"]),
        (scope(p=1)["a"], scope(prel=1)["a"]),
        (scope["a"], scope["a", "a"]),
        (scope["a"], scope[["a", None]]),
        (scope[1], scope[1.0]),
        (scope[1], scope[True]),
        (scope[1], scope["1"]),
        (scope[0.0], scope[False]),
        (scope[scope["a"]], scope[first["a"]]),
        (scope["a"], fallback["a"]),
        (system_message["a"], user_message["a"]),
        (scope(name="a"), scope(key="a")),
        (scope(on_include=on_include), scope),
        (config(extra={"a": 1}), config(extra={"a": True})),
        (config(extra={"a": [1]}), config(extra={"a": [1, 2]})),
        (config(extra={"a": {"b": 1}}), config(extra={"a": {"c": 1}})),
        (config(stop="a"), config(stop=["a"])),
        (isolate(token_limit=50), isolate(token_limit="50%")),
        (quoted(source="a")["x"], quoted(source="b")["x"]),
        (quoted(source="a")["x"], quoted(source="a")["y"]),
        (br, hr),
    ],
    ids=stable_id,
)
def test_unequal(left: Element, right: Element) -> None:
    assert left != right
    assert right != left


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (scope["a"], scope()["a"]),
        (scope, scope()),
        (scope(p=1)["a"], scope(p=1.0)["a"]),  # one priority, however it is written
        (scope[["a", ["b"]]], scope["a", "b"]),
        (scope["a", "b"], scope[iter(["a", "b"])]),
        (config(extra={"a": 1, "b": [{}]}), config(extra={"b": [{}], "a": 1})),
        (br(), br),
        (quoted(source="a")["x"], quoted(source="a")["x"]),
        (assistant_message(tool_calls=[]), assistant_message),
    ],
    ids=stable_id,
)
def test_equal(left: Element, right: Element) -> None:
    assert left == right
    assert hash(left) == hash(right)


def test_elements_are_not_equal_to_other_things() -> None:
    assert scope["a"] != "a"
    assert scope != None  # noqa: E711
    assert scope["a"] != ("a",)


def test_props_of_components_compare_without_recursion() -> None:
    def chain(depth: int) -> Element:
        node: Node = "x"
        for _ in range(depth):
            node = ComponentCall(function=on_include, kwargs={"inner": [node]})
        assert isinstance(node, Element)
        return node

    assert chain(20_000) == chain(20_000)
    assert chain(20_000) != chain(19_999)
    assert len(repr(chain(20_000))) <= 400


def test_hash_tells_sections_apart() -> None:
    """A thousand sections that differ in their texts only make no quadratic set."""
    elements = [scope(p=1)[f"section {i}", br] for i in range(1_000)]
    assert len({hash(element) for element in elements}) > 900


def test_elements_are_no_sequences() -> None:
    anything: Any = scope["a"]
    with pytest.raises(TypeError):
        iter(anything)
    with pytest.raises(TypeError):
        assert "a" in anything
    with pytest.raises(TypeError):
        len(anything)


# ------------------------------------------------------------------------------------------ children


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (scope["a"], "scope has its children already: give them all in one [...]"),
        (at_most(token_limit=3)["a"], "at_most has its children already: give them all in one [...]"),
        (user_message["a"], "user_message has its children already: give them all in one [...]"),
        (quoted["a"], "quoted has its children already: give them all in one [...]"),
        (br, "br takes no children"),
        (hr(p=3), "hr takes no children"),
        (empty(tokens=5), "empty takes no children"),
        (config(stop="x"), "config takes no children"),
        (image(url="https://example.org/a.png"), "image takes no children"),
        (cache_break, "cache_break takes no children"),
        (token_break, "token_break takes no children"),
        (capture(on_output=on_output), "capture takes no children"),
        (part(provider="x", data={}), "part takes no children"),
        (tool_definition(name="x"), "tool_definition takes no children"),
    ],
    ids=stable_id,
)
def test_brackets_that_are_one_too_many(element: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        element["b"]
    assert str(caught.value) == message


def test_walk_goes_in_document_order() -> None:
    tree = scope["a", user_message["b", br], 3]
    assert list(walk(tree)) == [tree, "a", tree.children[1], "b", br, 3]
    assert list(walk(["a", None, scope["b"]])) == ["a", None, scope["b"], "b"]
    assert list(walk("a")) == ["a"]
    assert list(walk(None)) == [None]
    assert sum(1 for _ in walk(nested(DEEP))) == DEEP + 1


def test_names_of_elements() -> None:
    assert (element_type(at_most(token_limit=3)), tag_name(at_most(token_limit=3))) == ("max", "at_most")
    assert (element_type(user_message), tag_name(user_message)) == ("user", "user_message")
    assert (element_type(quoted["x"]), tag_name(quoted["x"])) == ("quoted", "quoted")
    assert element_type(AsyncNode(source=fetched)) == "fetched"
    assert (scope(name="n").label, scope(name="n", key="k").label, user_message(name="n").label) == (
        "n",
        "k",
        None,
    )
    assert (first(name="n").label, fallback(name="n").label, first(name="n", key="k").label) == (
        "n",
        "n",
        "k",
    )
    assert turn(0) == -1_000_000
    assert turn(7) == turn(0) + 7


# ------------------------------------------------------------------------------------------ repr


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (scope, "scope"),
        (scope(p=5, name="docs")["a", br, 3, None, True], "scope(p=5, name='docs')['a', br, 3, None, True]"),
        (scope[scope[scope]], "scope[scope[scope]]"),
        (user_message(name="Ann")["hi"], "user_message(name='Ann')['hi']"),
        (at_most(token_limit="50%")["x"], "at_most(token_limit='50%')['x']"),
        (empty(tokens=0), "empty(tokens=0)"),
        (config(stop=["a"], extra={"k": 1}), "config(stop=('a',), extra={'k': 1})"),
        (quoted(source="wiki")["x"], "quoted(source='wiki')['x']"),
        (quoted(source=scope["deep"])["x"], "quoted(source=scope(...))['x']"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (AsyncNode(source=fetched), "fetched"),
        (image(data=None, url="u", detail="low"), "image(url='u', detail='low')"),
        (part(provider="x", data={}), "part(provider='x')"),
        (scope["x" * 1_000], "scope['" + "x" * 57 + "...']"),
    ],
    ids=str,
)
def test_repr_reads_like_code(element: Element, text: str) -> None:
    assert repr(element) == text


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "element",
    [
        nested(DEEP),
        doubled(60),
        scope[["text"] * 1_000_000],
        scope(p=10**10_000),
        scope["x" * 10_000_000],
        quoted(source="x" * 10_000_000)["y"],
        ComponentCall(
            function=on_include, args=tuple(range(10_000)), kwargs={f"k{i}": i for i in range(10_000)}
        ),
        ComponentCall(function=on_include, kwargs={"x": Unshowable(), "y": 10**10_000}),
        config(extra={"a": [list(range(10_000))] * 1_000}),
        attrs.evolve(image(url="u"), data=b"x" * 10_000_000),
    ],
    ids=lambda element: element.kind,
)
def test_repr_is_short_and_quick(element: Element) -> None:
    began = time.thread_time()
    assert len(repr(element)) <= 400
    assert time.thread_time() - began < 2


# ------------------------------------------------------------------------------------------ depth and sharing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tag", "depth"),
    [(scope, DEEP), (user_message, 20_000), (quoted, 20_000)],
    ids=["scope", "user_message", "component"],
)
def test_depth(tag: Any, depth: int) -> None:
    def check() -> None:
        tree = nested(depth, tag)
        again = loads(pickle.dumps(tree))
        assert again == tree
        assert tree != nested(depth, tag, "y")
        assert hash(again) == hash(tree)
        assert copy.deepcopy(tree) is tree
        del again, tree  # freeing doesn't recurse either

    in_thread(check)


def test_shared_elements_stay_shared() -> None:
    tree = doubled(60)
    dumped = pickle.dumps(tree)
    assert len(dumped) < 20_000
    again = loads(dumped)
    assert again == tree
    assert again != doubled(59)
    left, right = children_of(again)
    assert left is right


def test_many_threads_use_one_element() -> None:
    tree = scope(p=1)[[user_message[f"line {i}", br] for i in range(1_000)]]
    before = pickle.dumps(tree)

    def check() -> None:
        for _ in range(5):
            assert loads(before) == tree
            assert pickle.dumps(tree) == before
            assert hash(tree) == hash(loads(before))

    threads = [threading.Thread(target=in_thread, args=(check,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_components_pickle_by_their_name() -> None:
    assert loads(pickle.dumps(quoted)) is quoted
    assert loads(pickle.dumps(quoted(source="a"))).function is quoted(source="a").function


def test_what_has_no_name_can_not_be_pickled() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(scope(on_include=lambda: None))


# ------------------------------------------------------------------------------------------ types


def test_annotations_can_be_read_in_any_module() -> None:
    """Node is recursive for type checkers, but not for those who read annotations when the program runs."""
    hints = typing.get_type_hints(fetched)
    assert hints == {"return": Node}
    assert typing.get_type_hints(nested)["inner"] == Node
    assert str(Child)
