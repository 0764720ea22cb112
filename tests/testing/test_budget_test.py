"""``budget_test`` on all forms of prompts, alone and as a decorator."""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from priompt_py import (
    ArgumentTypeError,
    ArgumentValueError,
    Environment,
    Node,
    Rendered,
    SourceError,
    TemplateError,
    component,
    empty,
    fallback,
    from_openai,
    load_template,
    scope,
    system_message,
    user_message,
)
from priompt_py.preview.registry import find_prompt, prompt, register
from priompt_py.testing import (
    BudgetError,
    CharTokenizer,
    WordTokenizer,
    acheck_budget,
    budget_test,
    check_budget,
    message_histories,
)

FEW = hypothesis.settings(max_examples=15, database=None, deadline=None)
WORDS = WordTokenizer()


def chat(question: str, *, page: str, turns: list[str] | None = None) -> Node:
    return [
        system_message["Answer briefly."],
        [scope(prel=i - 100)[user_message[turn]] for i, turn in enumerate(turns or ())],
        user_message[fallback[page, "(left out)"], scope(key="question")[question[:20]]],
        empty(tokens=10),
    ]


def lines(texts: list[str]) -> Iterator[Node]:
    for number, text in enumerate(texts):
        yield scope(p=-number)[text]


async def slow(topic: str) -> Node:
    await asyncio.sleep(0)
    return ["About ", topic, scope(p=1)[" and more"]]


@component
async def quoted(children: list[Node], *, source: str) -> Node:
    await asyncio.sleep(0)
    return ["From ", source, ": ", scope(p=1)[children]]


async def _reserve(count: Any) -> int:
    return int(count("a b c"))


async def _noted(_: object) -> None:
    raise AssertionError("a callback of the prompt was called")


def reserving(question: str) -> Node:
    return [question, empty(tokens=_reserve), scope(p=1, on_include=_noted, on_eject=_noted)[" more"]]


def inner_async(question: str) -> Node:
    def gives() -> Any:
        return slow(question)

    return [component(lambda _children: gives())(), question]


class Styled:
    def __init__(self, style: str) -> None:
        self.style = style

    def __call__(self, question: str) -> Node:
        return [self.style, scope(p=1)[question]]


@prompt(id="budget-chat", token_limit=400)
def registered(question: str) -> Node:
    return user_message[question[:100]]


def history(messages: list[dict[str, Any]]) -> Node:
    return [scope(p=i)[from_openai([m])] for i, m in enumerate(messages) if m["role"] in ("user", "system")]


TEMPLATE = """\
---
props:
  question: str
  history: list = []
token_limit: 300
limits: [200]
must_keep: [question]
examples:
  one: {question: "Why?", history: ["a"]}
---
<system>Answer briefly.</system>
<for each="text" index="i" in={history}><scope prel={turn(i)}><user>{text}</user></scope></for>
<user key="question">{question[:50]}</user>
"""

PROMPTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "function": (chat, {"must_keep": ["question"], "limits": range(60, 4_000)}),
    "generator": (lines, {}),
    "async function": (slow, {}),
    "async component": (quoted, {}),
    "async reserve and callbacks": (reserving, {}),
    "something async deep inside": (inner_async, {}),
    "object": (Styled("curt"), {}),
    "registered": (registered, {}),
    "registered by id": (find_prompt("budget-chat"), {"limits": 300}),
    "template": (Environment().from_string(TEMPLATE), {}),
    "registered template": (register(Environment().from_string(TEMPLATE), id="budget-template"), {}),
    "node": (user_message["a", scope(p=1)["b"]], {"limits": [7, 8, 9]}),
    "history": (history, {"props": {"messages": message_histories()}, "limits": st.integers(500, 600)}),
    "without defaults": (lambda name="you": ["Hello ", name], {}),
}


@pytest.mark.parametrize(("prompt_", "how"), list(PROMPTS.values()), ids=list(PROMPTS))
def test_one_line_is_a_test(prompt_: Any, how: dict[str, Any]) -> None:
    test = budget_test(prompt_, tokenizer=WORDS, settings=FEW, **how)
    assert test.__name__.startswith("test_")
    test()


test_collected = budget_test(lines, tokenizer=WORDS, settings=FEW)


class TestInAClass:
    test_in_a_class = budget_test(lines, tokenizer=WORDS, settings=FEW)

    @budget_test(lines, tokenizer=WORDS, settings=FEW)
    def test_method(self, rendered: Rendered) -> None:
        assert isinstance(self, TestInAClass)
        assert rendered.messages is None


@budget_test(chat, limits=[100, 200], must_keep=["question"], tokenizer=WORDS, settings=FEW)
def test_as_a_decorator(
    rendered: Rendered, props: Mapping[str, Any], token_limit: int, tmp_path: Path
) -> None:
    assert tmp_path.exists()
    assert token_limit in (100, 200)
    assert rendered.token_limit == token_limit
    assert props["question"][:20] in rendered.to_text()


@pytest.mark.parametrize("number", [1, 2])
@budget_test(lines, tokenizer=WORDS, settings=FEW)
def test_with_parameters(number: int, rendered: Rendered) -> None:
    assert number in (1, 2)


@pytest.mark.anyio
@budget_test(slow, tokenizer=WORDS, settings=FEW)
async def test_async(rendered: Rendered) -> None:
    await asyncio.sleep(0)
    assert rendered.text is not None


@pytest.fixture
def page() -> str:
    return "a page of a fixture"


test_with_a_fixture = budget_test(chat, fixtures=["page"], tokenizer=WORDS, settings=FEW)


@budget_test(chat, fixtures=["page"], tokenizer=WORDS, settings=FEW)
def test_with_a_fixture_decorated(props: dict[str, Any], page: str) -> None:
    assert props["page"] is page


def test_a_function_that_fails_is_reported() -> None:
    @budget_test(lines, tokenizer=WORDS, settings=FEW)
    def test_inner(rendered: Rendered) -> None:
        assert "a" not in (rendered.text or "")

    with pytest.raises(AssertionError):
        test_inner()


def test_what_must_be_kept_can_depend_on_the_props() -> None:
    def optional(page: str | None) -> Node:
        return [page is not None and scope(name="page")[page], "end"]

    budget_test(optional, must_keep=lambda props: [] if props["page"] is None else ["page"], settings=FEW)()
    with pytest.raises(BudgetError, match="nothing in the prompt is called 'page'; its labels are none"):
        budget_test(optional, must_keep=["page"], settings=FEW)()


def test_too_long_is_a_failure_where_limits_are_given() -> None:
    with pytest.raises(BudgetError, match="chat breaks 'fits' at a limit of 11: the prompt needs"):
        budget_test(chat, limits=[11], tokenizer=WORDS, settings=FEW)()
    budget_test(chat, limits=[11], allow_too_long=True, tokenizer=WORDS, settings=FEW)()


def test_settings_are_kept() -> None:
    calls: list[int] = []

    def counted(n: int) -> Node:
        calls.append(n)
        return n

    budget_test(counted, tokenizer=WORDS, settings=hypothesis.settings(max_examples=3, database=None))()
    assert len(calls) <= 10


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "unknown argument": (
        {"token_limits": 5},
        ArgumentTypeError,
        "budget_test() takes no 'token_limits'; did you mean limits?",
    ),
    "unknown prop": (
        {"props": {"qestion": ""}},
        ArgumentTypeError,
        "props_for(): chat takes no prop qestion; did you mean question?",
    ),
    "wrong limit": (
        {"limits": -1},
        ArgumentValueError,
        "token_limit needs to be 0 or more, got token_limit=-1; was more subtracted from the window than it holds?",
    ),
    "props in a list": (
        {"props": ["question"]},
        ArgumentTypeError,
        (
            "budget_test() needs strategies and values by name for props, or one strategy for all of them, "
            "got props=['question'] (list)"
        ),
    ),
    "one fixture": (
        {"fixtures": "question"},
        ArgumentTypeError,
        (
            'budget_test() needs a list of names for fixtures, as in ["index"], '
            "got fixtures='question' (str)"
        ),
    ),
    "other settings": (
        {"settings": {"max_examples": 3}},
        ArgumentTypeError,
        (
            "budget_test() needs settings of hypothesis, as in hypothesis.settings(max_examples=1_000), "
            "got settings={'max_examples': 3} (dict)"
        ),
    ),
    "one label": (
        {"must_keep": "question"},
        ArgumentTypeError,
        (
            'check_budget() needs a list of labels for must_keep, as in ["question"], '
            "got must_keep='question' (str)"
        ),
    ),
    "unknown property": (
        {"skip": ["sam"]},
        ArgumentValueError,
        "check_budget() has no property 'sam' to skip; did you mean same?",
    ),
    "no limit": ({"limits": []}, ArgumentValueError, "token_limits needs a limit at least, got none"),
    "text for limits": (
        {"limits": "500"},
        ArgumentTypeError,
        "token_limit needs a whole number of tokens, got token_limit='500' (str)",
    ),
}


@pytest.mark.parametrize(("how", "kind", "message"), list(WRONG.values()), ids=list(WRONG))
def test_wrong_arguments_are_refused(how: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        budget_test(chat, **how)
    assert str(caught.value) == message


def test_a_template_without_examples_tells_what_was_drawn(tmp_path: Path) -> None:
    file = tmp_path / "a.priompt"
    file.write_text("---\nprops: {turns: list}\n---\n<for each='t' in={turns}>{t.words}</for>\n", "utf-8")
    with pytest.raises(TemplateError) as caught:
        budget_test(load_template(file), settings=FEW)()
    assert caught.value.__notes__[0].startswith("its list, dict and any props were drawn with texts in them")


# ------------------------------------------------------------------------------------------ check_budget itself


def test_check_budget_gives_what_each_limit_gave() -> None:
    found = check_budget(
        chat,
        {"question": "Why?", "page": "a page"},
        token_limits=[60, 5, 60],
        allow_too_long=True,
        tokenizer=WORDS,
    )
    assert list(found) == [5, 60]
    assert found[5] is None
    assert found[60] is not None


def test_of_many_limits_those_are_tried_where_the_prompt_changes() -> None:
    found = check_budget(
        [scope(p=i)["x" * 10] for i in range(5)], token_limits=range(10_000), tokenizer=CharTokenizer()
    )
    assert list(found) == [0, 1, 9, 10, 11, 19, 20, 21, 29, 30, 31, 39, 40, 41, 49, 50, 51, 9_999]
    backwards = check_budget(
        "ab", token_limits=range(99, 0, -1), allow_too_long=True, tokenizer=CharTokenizer()
    )
    assert list(backwards) == [1, 2, 3, 99]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"must_keep": "question"}, "check_budget() needs a list of labels for must_keep, as in [\"question\"], got must_keep='question' (str)"),
        ({"must_keep": [1]}, "check_budget() needs labels for must_keep, got 1 (int)"),
        ({"skip": "kept"}, "check_budget() needs a list of properties for skip, got skip='kept' (str)"),
        ({"skip": ["keept"]}, "check_budget() has no property 'keept' to skip; did you mean kept?"),
        ({"token_limits": True}, "token_limit needs a whole number of tokens, got token_limit=True (bool)"),
        ({"token_limits": [5, "6"]}, "token_limit needs a whole number of tokens, got token_limit='6' (str)"),
    ],
    ids=["text", "number", "skip text", "skip unknown", "bool", "text limit"],
)  # fmt: skip
def test_wrong_arguments_of_check_budget(how: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        check_budget("a", **how)
    assert str(caught.value) == message


def test_props_and_nodes_are_checked() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"check_budget\(\) needs a mapping for props, got props=\[1\] \(list\)"
    ):
        check_budget(chat, [1])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the wrong type is the test
    with pytest.raises(ArgumentTypeError, match="a node takes no props, got a"):
        check_budget("text", {"a": 1})


def test_properties_can_be_skipped() -> None:
    number = iter(range(9))
    check_budget(lambda: f"{next(number)}", {}, skip=["same"], tokenizer=WORDS)
    with pytest.raises(
        BudgetError, match=r"breaks 'same': one tree has .*'1'.* where the next one has .*'2'"
    ):
        check_budget(lambda: f"{next(number)}", {}, tokenizer=WORDS)
    check_budget(
        ["long ", scope(p=1, name="x")["y"]],
        token_limits=[1],
        must_keep=["x"],
        skip=["kept"],
        tokenizer=WORDS,
    )


@pytest.mark.anyio
async def test_checks_where_an_event_loop_runs() -> None:
    loop = asyncio.get_running_loop()

    async def here(question: str) -> Node:
        return [question, f"{asyncio.get_running_loop() is loop}"]

    found = check_budget(here, {"question": "a"}, token_limits=[9], tokenizer=WORDS)
    assert found[9] is not None
    assert found[9].text == "aFalse"
    found = await acheck_budget(here, {"question": "a"}, token_limits=[9], tokenizer=WORDS)
    assert found[9] is not None
    assert found[9].text == "aTrue"


def test_errors_of_the_prompt_reach_the_caller() -> None:
    async def fails() -> Node:
        raise KeyError("inside")

    with pytest.raises(KeyError):
        check_budget(fails)
    with pytest.raises(ZeroDivisionError):
        check_budget(lambda: [1 / 0])


@pytest.mark.anyio
async def test_errors_of_async_prompts_reach_the_caller_in_a_loop_too() -> None:
    async def fails() -> Node:
        raise KeyError("inside")

    with pytest.raises(KeyError):
        check_budget(fails)


def test_a_prompt_by_its_id_and_a_template_by_its_path(tmp_path: Path) -> None:
    seen: list[str] = []

    @prompt(id="test-by-id", token_limit=9)
    def by_id(question: str) -> Node:
        seen.append(question)
        return scope(p=1)[question]

    budget_test("test-by-id", settings=FEW)()
    assert seen
    with pytest.raises(
        SourceError, match=r"^no prompt is registered as 'test-by-idd'; did you mean test-by-id"
    ):
        budget_test("test-by-idd")
    file = tmp_path / "chat.priompt"
    file.write_text("---\nprops: {question: str}\ntoken_limit: 3\n---\n{question}", "utf-8")
    for path in (file, str(file)):
        with pytest.raises(BudgetError, match="breaks 'fits' at a limit of 3"):
            budget_test(path, props={"question": "one two three four"}, settings=FEW)()


def test_a_decorator_without_its_prompt_is_refused() -> None:
    def test_chat(rendered: Rendered) -> None: ...

    with pytest.raises(
        ArgumentTypeError,
        match=r"^budget_test\(\) needs the prompt that test_chat is about: @budget_test\(chat\)$",
    ):
        budget_test(test_chat)


def test_in_classes_of_unittest() -> None:
    seen: list[str] = []

    class Case(unittest.TestCase):
        test_alone = budget_test(chat, limits=[9], must_keep=["none"], tokenizer=WORDS, settings=FEW)

        @budget_test(chat, tokenizer=WORDS, settings=FEW)
        def test_method(self, rendered: Rendered) -> None:
            seen.append("method" if rendered.messages else "")

        @budget_test(chat, tokenizer=WORDS, settings=FEW)
        @staticmethod
        def test_static(rendered: Rendered) -> None:
            seen.append("static" if rendered.messages else "")

        @budget_test(chat, tokenizer=WORDS, settings=FEW)
        @classmethod
        def test_class(cls, rendered: Rendered) -> None:
            seen.append("class" if rendered.messages else "")

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert (result.testsRun, set(seen)) == (4, {"method", "static", "class"})
    assert [str(one).partition(" ")[0] for one, _ in result.errors + result.failures] == ["test_alone"]


def test_parameters_for_any_number_get_nothing() -> None:
    @budget_test(chat, tokenizer=WORDS, settings=FEW)
    def test_any(*values: object, rendered: Rendered, **named: object) -> None:
        assert (values, named) == ((), {})

    test_any()


def test_a_range_may_be_too_long_to_be_listed() -> None:
    budget_test(scope(p=1)["a"], limits=range(10**15), tokenizer=WORDS, settings=FEW)()
    found = check_budget(scope(p=1)["a"], token_limits=range(10**15, -1, -1), tokenizer=WORDS)
    assert sorted(found) == [0, 1, 2, 10**15]


def gives_nothing(*_: object, **how: object) -> Any:
    return None


def test_a_renderer_gives_a_rendered() -> None:
    with pytest.raises(
        ArgumentTypeError,
        match=r"^check_budget\(\) needs a renderer that gives a Rendered, got None \(NoneType\)$",
    ):
        check_budget("a", render=gives_nothing)
