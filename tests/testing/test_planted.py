"""Every property catches a fault that was planted, names itself and the limit, and shows a small example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py import (
    Node,
    Rendered,
    assistant_message,
    empty,
    first,
    render,
    scope,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.model.elements import Element, walk
from priompt_py.preview.checks import BudgetCheck
from priompt_py.preview.properties import PROPERTIES
from priompt_py.testing import (
    BudgetError,
    CharTokenizer,
    ToyBPE,
    WordTokenizer,
    budget_test,
    chats,
    check_budget,
    prompts,
)
from priompt_py.testing.definition import DEFINITION
from priompt_py.tokens.chat_format import OPENAI_CHAT
from tests.testing.planted import PROMPTS, RENDERERS, TOKENIZERS

CHARS = CharTokenizer()

BUDGET = settings(  # hypothesis' own number of examples
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

CALLS = [{"id": "1", "name": "f", "arguments": "{}"}]
LARGE: Node = [
    system_message["Answer briefly."],
    [user_message(p=i)[f"turn {i} says a thing or two"] for i in range(5)],
    scope(p=4)[
        assistant_message(tool_calls=CALLS)["let me see"], tool_message(tool_call_id="1")["it is late"]
    ],
    user_message[scope(p=7, name="hint")["a hint"], "What now?"],
    empty(tokens=5),
]
PLAIN: Node = ["an answer to all: ", scope(p=1)["many words ", scope(p=0)["and more"]], scope(p=5)["the end"]]


def every(faults: dict[str, tuple[Callable[[], Any], set[str]]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("plant", "names"), list(faults.values()), ids=[name.replace(" ", "-") for name in faults]
    )


def found_by(check: Callable[[Node], object], trees: SearchStrategy[list[Node]] | None = None) -> BudgetError:
    """The smallest example that hypothesis finds for which a check fails."""

    @BUDGET
    @given(tree=prompts() | chats() if trees is None else trees)
    def test(tree: Node) -> None:
        check(tree)

    with pytest.raises(BudgetError) as caught:
        test()
    return caught.value


def elements_in(example: str | None) -> int:
    """How many elements the code of a tree makes: each is named once."""
    import priompt_py
    from priompt_py.testing.leaves import _note, _reserve

    assert example is not None
    names: dict[str, Any] = {**vars(priompt_py), "_note": _note, "_reserve": _reserve}
    tree = eval(example, names)  # noqa: S307 - our own code
    return sum(isinstance(node, Element) for node in walk(scope[tree])) - 1


@pytest.mark.slow
@every(RENDERERS)
def test_a_broken_renderer_is_found_and_shrinks(plant: Callable[[], Any], names: set[str]) -> None:
    renderer = plant()
    trees = chats() if "pairs" in names else None
    error = found_by(lambda tree: check_budget(tree, render=renderer, tokenizer=CHARS), trees)
    assert error.broken in names
    assert_says_all(error)
    assert elements_in(error.example) <= 5


@pytest.mark.slow
@every(TOKENIZERS)
def test_a_broken_tokenizer_is_found_and_shrinks(plant: Callable[[], Any], names: set[str]) -> None:
    trees = prompts(kinds={"text", "scope", "hr", "br"})
    error = found_by(lambda tree: check_budget(tree, tokenizer=plant()), trees)
    assert error.broken in names
    assert_says_all(error)
    assert elements_in(error.example) <= 5


@every(RENDERERS)
@pytest.mark.parametrize("tree", [LARGE, PLAIN], ids=["chat", "plain"])
def test_without_hypothesis_the_example_is_made_small(
    plant: Callable[[], Any], names: set[str], tree: Node
) -> None:
    error = broken_by(lambda: check_budget(tree, render=plant(), tokenizer=CHARS))
    if error is None:  # what only a chat, or only a plain prompt, can show
        assert names & ({"pairs", "definition", "within"} if tree is PLAIN else {"count", "definition"})
        return
    assert error.broken in names
    assert_says_all(error)
    assert elements_in(error.example) <= 5


def broken_by(check: Callable[[], object]) -> BudgetError | None:
    try:
        check()
    except BudgetError as error:
        return error
    return None


@pytest.mark.parametrize(("plant", "how", "name"), list(PROMPTS.values()), ids=list(PROMPTS))
def test_a_broken_prompt_is_found(plant: Callable[[], Any], how: dict[str, Any], name: str) -> None:
    test = budget_test(plant(), settings=BUDGET, tokenizer=CHARS, **how)
    with pytest.raises(BudgetError) as caught:
        test()
    assert caught.value.broken == name
    assert_says_all(caught.value)


def assert_says_all(error: BudgetError) -> None:
    text = str(error)
    assert f"breaks {error.broken!r}" in text.splitlines()[0]
    promises = {each.name: each.promise for each in (*PROPERTIES, *DEFINITION)}
    assert promises.get(error.broken, "props") in text
    assert error.call in text
    if error.token_limit is not None:
        assert f"at a limit of {error.token_limit}: {error.detail}" in text
    if error.example is not None:
        assert error.example in text


# ------------------------------------------------------------------------------------------ healthy ones


@pytest.mark.parametrize(
    "tokenizer",
    [CHARS, WordTokenizer(), WordTokenizer(OPENAI_CHAT), ToyBPE(("ab", "abc", " b")), "o200k_base"],
    ids=repr,
)
@settings(max_examples=25)
@given(tree=prompts() | chats())
def test_the_engine_passes(tokenizer: Any, tree: Node) -> None:
    found = check_budget(tree, tokenizer=tokenizer)
    assert all(rendered is None or rendered.token_limit == limit for limit, rendered in found.items())


@settings(max_examples=25)
@given(tree=prompts() | chats(), limits=st.lists(st.integers(0, 90), min_size=1, max_size=4))
def test_the_engine_passes_at_any_limits(tree: Node, limits: list[int]) -> None:
    found = check_budget(tree, token_limits=limits, allow_too_long=True, tokenizer=CHARS)
    assert list(found) == sorted(set(limits))


def test_every_property_has_a_planted_fault() -> None:
    caught = {name for _, names in (*RENDERERS.values(), *TOKENIZERS.values()) for name in names}
    caught |= {name for _, _, name in PROMPTS.values()}
    assert caught == {*(each.name for each in (*PROPERTIES, *DEFINITION)), "props", "same"}
    assert len(RENDERERS) + len(TOKENIZERS) + len(PROMPTS) >= 15


def test_a_tree_too_large_for_the_oracle_is_checked_without_it() -> None:
    tree = [scope(p=i)["word "] for i in range(300)]

    def broken(node: Node, *, token_limit: int, **how: Any) -> Rendered:
        return RENDERERS["stops a level too high"][0]()(node, token_limit=token_limit, **how)

    assert len(check_budget(tree, render=broken, token_limits=[10, 20], tokenizer=CHARS)) == 2
    with pytest.raises(BudgetError, match="breaks 'smallest'"):
        check_budget(tree[:20], render=broken, token_limits=[10, 20], tokenizer=CHARS)


def test_the_check_without_the_oracle_needs_none() -> None:
    assert list(BudgetCheck(PLAIN, how={"tokenizer": CHARS}, renderer=render).run([20, 60])) == [20, 60]


def test_a_call_may_go_where_its_result_is_an_alternative() -> None:
    """At 32 the tool fits, and so the alternative is in whose result is not: the call, and what stands beside it, go."""
    call = {"id": "call_0", "name": "now", "arguments": "{}"}
    parameters = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what to look for"}},
    }
    tree: Node = [
        tool_definition(p=3, name="search", description="Look something up.", parameters=parameters),
        assistant_message(tool_calls=(call,))[scope],
        first[
            scope(p=0)[tool_message(p=-0.5, tool_call_id="call_0")],
            scope[tool_message(tool_call_id="call_0")["(left out)"]],
        ],
    ]
    tokenizer = WordTokenizer(OPENAI_CHAT)
    assert [render(tree, token_limit=limit, tokenizer=tokenizer).cutoff for limit in (31, 32)] == [1e9, 0]
    check_budget(tree, token_limits=[31, 32], tokenizer=tokenizer)
