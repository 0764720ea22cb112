from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from priompt_py.author.messages import user_message
from priompt_py.author.tags import at_most, empty, scope
from priompt_py.errors import PromptTooLong, StructureError
from priompt_py.model.elements import BASE_PRIORITY, Child, Container, Element, Message, Node, walk
from priompt_py.testing.oracle import levels_of, oracle_render, tree_of, whole_count
from priompt_py.testing.strategies import KINDS, chats, elements, priorities, prompts, texts, token_limits
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()
SHRINK = settings(
    max_examples=5_000,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def nodes(tree: Node) -> list[Child]:
    return [*walk(scope[tree])][1:]


def kinds(tree: Node) -> set[str]:
    return {node.kind for node in nodes(tree) if isinstance(node, Element)}


def holds(kind: str) -> Callable[[Node], bool]:
    return lambda tree: kind in kinds(tree)


# ------------------------------------------------------------------------------------------ what is drawn


@given(prompts())
def test_prompts_are_well_formed(prompt: list[Node]) -> None:
    assert not tree_or_none(prompt)


@given(chats())
def test_chats_are_well_formed(chat: list[Node]) -> None:
    is_chat = tree_or_none(chat)
    assert is_chat in (None, any(isinstance(node, Message) for node in nodes(chat)))


def tree_or_none(prompt: Node) -> bool | None:
    """Whether it is a chat; None if a fixed limit in it is too small. A StructureError fails the test."""
    try:
        return tree_of(prompt, token_limit=10**6, tokenizer=CHARS).is_chat
    except PromptTooLong:
        return None


ELEMENTS = sorted(KINDS - {"text", "number", "none", "shared"})


@pytest.mark.parametrize("kind", ELEMENTS)
def test_prompts_hold_every_element_and_shrink(kind: str) -> None:
    smallest = find(prompts(), holds(kind), settings=SHRINK)
    assert len(nodes(smallest)) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ELEMENTS, "image", "part", "message"])
def test_chats_hold_every_element_and_shrink(kind: str) -> None:
    smallest = find(chats(), holds(kind), settings=SHRINK)
    assert len(nodes(smallest)) <= 5


@pytest.mark.slow
def test_chats_hold_calls_whose_result_can_be_a_stub() -> None:
    def stubs(tree: Node) -> bool:
        ids = [node.tool_call_id for node in nodes(tree) if isinstance(node, Message) and node.role == "tool"]
        return len(ids) > len(set(ids))

    smallest = find(chats(), stubs, settings=SHRINK)
    assert len(nodes(smallest)) <= 12


def test_one_element_stands_in_two_places() -> None:
    def shared(tree: Node) -> bool:
        found = [id(node) for node in nodes(tree) if isinstance(node, Container)]
        return len(found) > len(set(found))

    smallest = find(prompts(), shared, settings=SHRINK)
    assert len(nodes(smallest)) <= 4


@pytest.mark.slow
def test_kinds_say_what_may_be_in() -> None:
    only = elements(kinds={"text", "scope", "max"})
    with pytest.raises(NoSuchExample):
        find(
            only,
            lambda tree: not kinds(tree) <= {"scope", "max"},
            settings=settings(SHRINK, max_examples=300),
        )


def test_text_alone() -> None:
    with pytest.raises(NoSuchExample):
        find(
            elements(kinds={"text"}),
            lambda tree: not isinstance(tree, str),
            settings=settings(SHRINK, max_examples=100),
        )


def test_unknown_kinds_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no kind of node is named 'scop'"):
        find(elements(kinds={"scop"}), lambda _: True, settings=SHRINK)


def test_chats_without_tools() -> None:
    with pytest.raises(NoSuchExample):
        find(
            chats(tools=False),
            lambda tree: any(isinstance(node, Message) and node.tool_calls != () for node in nodes(tree)),
            settings=settings(SHRINK, max_examples=200),
        )


ODD: dict[str, Callable[[float], bool]] = {
    "negative": lambda p: p < 0,
    "huge": lambda p: p in (1e18, 10**18 + 1),
    "above the base": lambda p: p > BASE_PRIORITY,
    "the base": lambda p: p == BASE_PRIORITY,
    "a fraction": lambda p: p != int(p),
}


@pytest.mark.parametrize("odd", list(ODD))
def test_odd_priorities_come_up(odd: str) -> None:
    assert ODD[odd](find(priorities(), ODD[odd], settings=SHRINK))


@pytest.mark.parametrize("has", ["😀", "\n", "<|im_end|>", "合", "  "])
def test_odd_texts_come_up(has: str) -> None:
    assert len(find(texts(), lambda text: has in text, settings=SHRINK)) <= max(
        2 * len(has) + 2, len(has) + 8
    )  # at most one sample beside


def test_counts_that_rise_with_the_level_come_up() -> None:
    def rises(prompt: Node) -> bool:
        try:
            counts = oracle_render(prompt, token_limit=10**6, tokenizer=CHARS).counts
        except PromptTooLong:
            return False
        return any(before < after for before, after in pairwise(counts))

    smallest = find(prompts(), rises, settings=SHRINK)
    assert len(nodes(smallest)) <= 6


# ------------------------------------------------------------------------------------------ limits


@given(prompts(), st.data())
def test_limits_are_drawn(prompt: list[Node], data: st.DataObject) -> None:
    assert data.draw(token_limits(prompt, tokenizer=CHARS)) >= 0


@pytest.mark.parametrize("edge", [0, 1, 2, 4, 5, 6, 9, 10, 11])
def test_limits_stand_around_the_cost_of_each_level(edge: int) -> None:
    prompt: Node = ["a", scope(p=2)["bbbb"], scope(p=1)[empty(tokens=5)]]
    tree = tree_of(prompt, token_limit=99, tokenizer=CHARS)
    assert [whole_count(tree, level) for level in levels_of(tree.root)] == [10, 5, 1]
    assert find(token_limits(prompt, tokenizer=CHARS), lambda limit: limit == edge, settings=SHRINK) == edge


def test_limits_of_a_prompt_that_never_fits_stand_around_what_it_needs() -> None:
    prompt = at_most(token_limit=3)["abcd"]
    assert find(token_limits(prompt, tokenizer=CHARS), lambda limit: limit > 3, settings=SHRINK) == 4


def test_limits_of_a_wrong_structure_are_refused() -> None:
    with pytest.raises(StructureError):
        token_limits([user_message["a"], "b"], tokenizer=CHARS)
