"""The published JSON Schema: it is made from the element table, and says what from_json says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.author.element_table import ELEMENTS, ELEMENTS_BY_NAME
from priompt_py.author.json_form import from_json, to_json
from priompt_py.author.json_schema import json_schema
from priompt_py.errors import JsonFormError
from priompt_py.model.elements import Element, Node
from tests.author.generated import files
from tests.author.trees import broken_forms, elements, nodes

VECTORS = [
    json.loads(line)
    for line in Path(__file__)
    .parents[1]
    .joinpath("conformance", "vectors.jsonl")
    .read_text("utf-8")
    .splitlines()
]
VALIDATOR: Any = jsonschema.Draft202012Validator(json_schema())


def valid(form: Any) -> bool:
    return bool(VALIDATOR.is_valid(form))


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_made_files_are_as_made(path: Path) -> None:
    assert path.read_text("utf-8") == files()[path], "run `python tests/author/generated.py`"


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json.loads(json.dumps(json_schema(), allow_nan=False)) == json_schema()
    published = Path(__file__).parents[2].joinpath("grammar", "prompt-tree.schema.json")
    assert json.loads(published.read_text("utf-8")) == json_schema()


def test_each_call_gives_a_new_one() -> None:
    schema = json_schema()
    schema["$defs"]["scope"]["properties"].clear()
    schema["$defs"]["element"].clear()
    assert json_schema()["$defs"]["scope"]["properties"]


@given(nodes)
def test_what_is_written_is_valid(node: Node) -> None:
    form = to_json(node)
    assert valid(form)
    assert all(valid(one) for one in form)


@given(st.data(), elements)
def test_what_is_broken_is_refused_by_both(data: st.DataObject, element: Element) -> None:
    broken = data.draw(broken_forms(to_json(element)))
    assert not valid(broken)
    with pytest.raises(JsonFormError):
        from_json(broken)


@pytest.mark.slow
def test_vectors_are_valid() -> None:
    for vector in VECTORS:
        VALIDATOR.validate(vector["tree"])
    assert len(VECTORS) == 400


# Arguments that are given instead of others.
ALONE = {("image", "data"), ("excerpt", "priority"), ("excerpt", "keep")}
# That base64 is a picture, and that there are as many pieces, a schema can't say.
BEYOND = {("image", "data"), ("excerpt", "priority"), ("excerpt", "around")}

POOL: list[Any] = [
    *[
        None,
        True,
        False,
        0,
        1,
        -1,
        0.5,
        -0.5,
        10**30,
        "",
        "a",
        "a b",
        "50%",
        "50 % - 3",
        "5.5%",
        "low",
        "tokens_reserved",
    ],
    *[[], ["a"], ["a", "b"], [1, 2], [0, 1], ["a", 5], {}, {"a": 1}, {"type": "object"}, {"type": "array"}],
    *[{"name": "b", "arguments": "{}"}, [{"id": "a", "name": "b", "arguments": {"x": [1]}}], [{"id": "a"}]],
]


@st.composite
def any_forms(draw: st.DrawFn, depth: int = 2) -> Any:
    """Objects of real types and real argument names, with any values: some are right by luck."""
    name = draw(st.sampled_from([element.name for element in ELEMENTS]))
    info = ELEMENTS_BY_NAME[name]
    form: dict[str, Any] = {"type": name}
    for argument in info.arguments:
        chance = 0 if argument.required else 3
        if (name, argument.name) not in BEYOND and draw(st.integers(0, 3)) >= chance:
            likely = [RIGHT[argument.name]] * 30 if argument.name in RIGHT else []
            form[argument.name] = draw(st.sampled_from([*POOL, *likely]))
    if draw(st.booleans()):
        inner = st.sampled_from(["a", 1, None]) if depth == 0 else any_forms(depth - 1)
        form["children"] = draw(st.lists(inner, max_size=2))
    return form


@given(any_forms())
def test_schema_and_reader_say_the_same(form: Any) -> None:
    before = json.dumps(form)
    try:
        from_json(form)
        accepted = True
    except JsonFormError as error:
        assert str(error).startswith("$")  # noqa: PT017 - what else there may be is tested elsewhere
        accepted = False
    assert valid(form) is accepted, form
    assert json.dumps(form) == before


# One value for each argument that is right, and some that are wrong.
RIGHT: dict[str, Any] = {
    "text": "a\nb\n",
    "by": "word",
    "around": 1,
    "omitted": "...",
    "p": 1.5,
    "keep": "ends",
    "key": "k",
    "name": "n",
    "to": "t",
    "token_limit": "50%\t+ 3",
    "tokens": 0,
    "stop": ["a"],
    "max_response_tokens": "tokens_reserved",
    "extra": {"a": [None]},
    "tool_calls": [{"id": "a", "name": "b", "arguments": {}}],
    "function_call": {"name": "b", "arguments": "{}"},
    "tool_call_id": "c",
    "is_error": True,
    "url": "u",
    "detail": "low",
    "dimensions": [1, 2],
    "provider": "x",
    "data": {"a": 1},
    "description": "d",
    "parameters": {"type": "object"},
    "strict": False,
}
WRONG: dict[str, list[Any]] = {
    "text": [None, 5, ["a"]],
    "by": [None, "letter", 5],
    "priority": [5, ["a"], [True], {}],
    "around": [0, -1, 1.5, True, "1"],
    "keep": ["middle", 5, True],
    "omitted": [5, []],
    "p": ["1", True, []],
    "prel": ["x", False, {}],
    "key": [5, []],
    "name": [5, {}],
    "to": [5],
    "token_limit": [None, -1, 1.5, True, "50", "50%%", "-5%", "5.5%", "50 % 3", []],
    "tokens": [-1, 1.5, True, "5", []],
    "stop": [5, ["a", 5], ["a"] * 5, {}],
    "max_response_tokens": [0, -1, 1.5, True, "all"],
    "extra": [5, [], "x"],
    "tool_calls": [
        5,
        {},
        [5],
        [{}],
        [{"id": 5, "name": "b", "arguments": ""}],
        [{"id": "a", "name": "", "arguments": ""}],
        [{"id": "a", "name": "b", "arguments": []}],
        [{"id": "a", "name": "b", "arguments": "", "type": "function"}],
    ],
    "function_call": [5, {}, {"id": "a", "name": "b", "arguments": "{}"}, {"name": "b"}],
    "tool_call_id": [None, 5],
    "is_error": [None, 1, "true"],
    "url": [5, ""],
    "detail": [None, "full", 5],
    "dimensions": [5, [1], [1, 2, 3], [0, 1], [1.5, 1], ["1", "2"]],
    "provider": [None, "", 5],
    "data": [None, 5, []],
    "description": [5],
    "parameters": [5, [], {"type": "array"}],
    "strict": [1, "yes"],
}


def right(name: str) -> dict[str, Any]:
    """The JSON form of an element with every argument that fits together with the others."""
    form: dict[str, Any] = {"type": name}
    for argument in ELEMENTS_BY_NAME[name].arguments:
        if argument.schema is not None and (name, argument.name) not in ALONE and argument.name != "prel":
            form[argument.name] = RIGHT[argument.name]
    return form


IN_JSON = [element.name for element in ELEMENTS if element.has_json_form]


@pytest.mark.parametrize("name", IN_JSON)
def test_every_argument(name: str) -> None:
    form = right(name)
    assert valid(form)
    element = from_json(form)
    assert set(to_json(element)[0]) == set(form)
    for argument in ELEMENTS_BY_NAME[name].arguments:
        if argument.schema is None:
            assert not valid({**form, argument.name: "f"})
            continue
        less = dict(form)
        if argument.name == "prel":
            del less["p"]
        if (name, argument.name) in ALONE and name == "excerpt":
            del less["around"]
        if argument.required:
            assert not valid({key: value for key, value in form.items() if key != argument.name})
        wrong: list[Any] = WRONG[argument.name]
        if name == "image" and argument.name == "data":
            wrong = [5, {}]
        if name == "tool_definition" and argument.name == "name":
            wrong = [None, 5, "", "a b", "a" * 65]
        if name == "part" and argument.name == "tokens":
            wrong = [-1, 1.5, True]
        for value in wrong:
            broken = {**less, argument.name: value}
            assert not valid(broken), broken
            with pytest.raises(JsonFormError, match=rf"^\$(\.{argument.name})?"):
                from_json(broken)


def test_rules_between_arguments() -> None:
    for wrong in (
        {"type": "scope", "p": 1, "prel": 1},
        {"type": "image"},
        {"type": "image", "data": "YWJj", "url": "u"},
        {"type": "excerpt", "text": "a"},
        {"type": "excerpt", "text": "a", "around": 1, "keep": "head"},
        {"type": "excerpt", "text": "a", "around": None, "priority": None},
        {"type": "fallback", "children": ["a", {"type": "scope", "p": 1}]},
        {"type": "fallback", "children": [{"type": "br", "prel": 0}]},
        {"type": "capture"},
        {"type": "br", "children": ["a"]},
    ):
        assert not valid(wrong), wrong
        with pytest.raises(JsonFormError):
            from_json(wrong)
    good_forms: list[Any] = [
        {"type": "scope", "p": 1, "prel": None},
        {"type": "image", "data": None, "url": "u"},
        {"type": "excerpt", "text": "a", "around": None, "priority": [1]},
        {"type": "excerpt", "text": "", "priority": []},
        {
            "type": "fallback",
            "children": ["a", {"type": "scope", "p": None, "children": [{"type": "scope", "p": 1}]}],
        },
    ]
    for good in good_forms:
        assert valid(good), good
        from_json(good)
