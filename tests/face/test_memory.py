"""A cutoff with memory: the four rules on random trees, and what they come to in growing conversations."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, IntEnum
from fractions import Fraction
from itertools import pairwise
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    BASE_PRIORITY,
    ArgumentTypeError,
    ArgumentValueError,
    Memory,
    Node,
    PromptError,
    PromptTooLong,
    Rendered,
    arender,
    at_most,
    compile_prompt,
    isolate,
    render,
    scope,
    system_message,
    turn,
    user_message,
)
from priompt_py.testing.definition import message_facts
from priompt_py.testing.strategies import chats, prompts, token_limits
from priompt_py.testing.tokenizers import CharTokenizer, WordTokenizer
from tests.face.memory_oracle import max_paths, remembering

WORDS, CHARS = WordTokenizer(), CharTokenizer()
TOKENIZERS: Any = st.sampled_from((WORDS, CHARS))
ALL_SHARES: tuple[float | Fraction, ...] = (0.7, 1, 1.0, 0.5, 0.29, 0.05, Fraction(1, 3))
SHARES = st.sampled_from(ALL_SHARES)


# ------------------------------------------------------------------------------------------ the rules, on any tree


@st.composite
def cases(draw: st.DrawFn) -> tuple[Node, dict[str, Any], Memory]:
    """A tree, how to render it, and something to remember: often numbers that mean something in it."""
    node: Node = draw(prompts() | chats())
    tokenizer = draw(TOKENIZERS)
    limit = draw(token_limits(node, tokenizer=tokenizer))
    keep = draw(SHARES)
    refill = draw(st.none() | st.sampled_from([share for share in ALL_SHARES if share <= keep]))
    numbers = st.integers(-12, 12) | st.floats(-12, 12) | st.just(BASE_PRIORITY)
    try:
        paths = max_paths(node, token_limit=limit, tokenizer=tokenizer)
    except PromptTooLong:
        paths = []
    maxes = draw(st.dictionaries(st.sampled_from([*paths, "root > 99:max"]), numbers, max_size=3))
    how = {"token_limit": limit, "tokenizer": tokenizer, "keep": keep, "refill": refill}
    return node, how, Memory(cutoff=draw(st.none() | numbers), maxes=maxes)


def facts_of(rendered: Rendered) -> dict[str, Any]:
    messages = rendered.messages
    return {
        "cutoff": rendered.cutoff,
        "text": rendered.text,
        "messages": None if messages is None else [message_facts(message) for message in messages],
        "tools": list(rendered.tools),
        "count": rendered.token_count,
        "reserved": rendered.tokens_reserved,
        "config": rendered.config,
        "memory": rendered.memory.to_json(),
    }


def outcome(node: Node, how: dict[str, Any], memory: Memory) -> dict[str, Any] | str:
    try:
        return facts_of(render(node, previous=memory, **how))
    except PromptError as error:
        return type(error).__name__


@given(cases())
def test_the_cutoff_is_the_one_that_the_rules_say(case: tuple[Node, dict[str, Any], Memory]) -> None:
    node, how, memory = case
    due: dict[str, Any] | str
    try:
        due = remembering(node, cutoff=memory.cutoff, maxes=memory.maxes, **how).facts()
    except PromptTooLong:
        due = "PromptTooLong"
    assert outcome(node, how, memory) == due


@given(cases())
def test_same_tree_limit_and_memory_give_the_same_bytes(case: tuple[Node, dict[str, Any], Memory]) -> None:
    node, how, memory = case
    once = outcome(node, how, memory)
    assert outcome(node, how, Memory.from_json(json.loads(json.dumps(memory.to_json())))) == once
    if isinstance(once, str):
        return
    program = compile_prompt(node)
    for previous in (memory, memory):  # a program renders again and again
        assert facts_of(program.render(previous=previous, **how)) == once
    rendered = program.render(previous=memory, **how)
    assert rendered.token_count + rendered.tokens_reserved <= how["token_limit"]


@given(cases())
def test_what_is_remembered_stays_when_nothing_changes(case: tuple[Node, dict[str, Any], Memory]) -> None:
    """The second render with its own memory is the first one, unless the cut left less than the refill mark."""
    node, how, memory = case
    try:
        first = render(node, previous=memory, **how)
    except PromptError:
        return
    refill = Fraction(str(how["keep"])) / 2 if how["refill"] is None else Fraction(str(how["refill"]))
    if first.memory.maxes or first.token_count + first.tokens_reserved <= refill * how["token_limit"]:
        return  # a max may be under its own mark
    assert facts_of(render(node, previous=first, **how)) == facts_of(first)


@given(
    st.none()
    | st.integers(max_value=BASE_PRIORITY)
    | st.floats(max_value=1e9, allow_nan=False, allow_infinity=False)
)
def test_memory_survives_json(cutoff: float | None) -> None:
    numbers = {} if cutoff is None else {"root > 1:max": cutoff, "root > 0:scope[name=é] > 2:max": -1}
    memory = Memory(cutoff=cutoff, maxes=numbers)
    read = Memory.from_json(json.loads(json.dumps(memory.to_json())))
    assert read == memory
    assert hash(read) == hash(memory)
    assert type(read.cutoff) is type(cutoff)
    assert read.maxes == numbers


# ------------------------------------------------------------------------------------------ growing conversations


def chat(texts: Sequence[str]) -> list[Node]:
    """A chat whose newest message is always in."""
    history = [scope(prel=turn(i))[user_message[text]] for i, text in enumerate(texts[:-1])]
    return [system_message["S"], history, user_message[texts[-1]]]


def play(trees: Iterable[Node], limit: int, **how: Any) -> list[Rendered]:
    """The renders of trees, each with what the one before left."""
    previous: Rendered | Memory = Memory()
    found: list[Rendered] = []
    for tree in trees:
        previous = render(tree, token_limit=limit, tokenizer=WORDS, previous=previous, **how)
        found.append(previous)
    return found


def growing(texts: Sequence[str]) -> Iterator[Node]:
    """The chat after each message."""
    return (chat(texts[:end]) for end in range(1, len(texts) + 1))


def texts_of(sizes: Sequence[int]) -> list[str]:
    """A text for each size in tokens, each another one."""
    return [" ".join([f"m{i}", *["w"] * (size - 1)]) for i, size in enumerate(sizes)]


def sent(rendered: Rendered) -> list[str]:
    """The texts of the messages."""
    return [message.text for message in rendered.messages or ()]


def before_newest(rendered: Rendered) -> str:
    """The flat form up to the newest message."""
    text = rendered.to_text()
    return text[: text.rindex(f"<|im_start|>user<|im_sep|>{sent(rendered)[-1]}<|im_end|>")]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.integers(30, 90), SHARES)
def test_chats_that_only_grow_keep_what_stands_before_the_newest_turn(
    sizes: list[int], limit: int, keep: float | Fraction
) -> None:
    """While the cut stays, each prompt goes on where the one before ended. When it moves, what is left is the end of what
    there was; it only moves back where little would be shown, after a newest turn that was so large that it went far."""
    mark = Fraction(str(keep)) / 2 * limit
    for number, (before, after) in enumerate(pairwise(play(growing(texts_of(sizes)), limit, keep=keep)), 2):
        assert after.token_count <= limit
        assert len(after.to_text()) > len(before_newest(after))
        if before.memory == after.memory:
            assert after.to_text().startswith(before_newest(before))
            # At the base no history is in, and the turn that was newest is history now.
            assert sent(after)[:-1] == (["S"] if before.memory.cutoff == BASE_PRIORITY else sent(before))
        else:
            start = min(int(before.cutoff) - BASE_PRIORITY - turn(0), number - 1)
            would_show = 1 + sum(sizes[start:number])
            assert after.cutoff > before.cutoff or would_show <= int(mark)
            if after.cutoff < before.cutoff:
                continue
            kept, there = sent(after)[1:-1], sent(before)[1:]
            assert there[len(there) - len(kept) :] == kept


@given(
    st.lists(st.integers(1, 9), min_size=5, max_size=30),
    st.integers(30, 90),
    st.integers(0, 29),
    st.integers(1, 30),
)
def test_the_cutoff_stays_while_its_prompt_is_above_the_refill_mark_and_fits(
    sizes: list[int], limit: int, first: int, last: int
) -> None:
    """Whatever became of the conversation: a remembered cutoff stays if R < |Prompt| <= T, and else doesn't."""
    *history, newest = sizes[:last]
    tree = chat(texts_of(sizes)[:last])
    whole = 1 + sum(history) + newest
    shown = 1 + sum(history[first:]) + newest
    cutoff = BASE_PRIORITY + turn(first)
    found = render(tree, token_limit=limit, tokenizer=WORDS, previous=Memory(cutoff=cutoff))
    if whole <= limit:
        assert (found.token_count, found.memory) == (whole, Memory())
    elif limit * 35 // 100 < shown <= limit:
        assert (found.token_count, found.cutoff, found.memory) == (shown, cutoff, Memory(cutoff=cutoff))
    else:
        exact = render(tree, token_limit=limit * 7 // 10, tokenizer=WORDS)
        assert (found.token_count, found.cutoff) == (exact.token_count, exact.cutoff)


ONES = texts_of([1] * 100)
"""Texts of one token; a message costs no more in the tests' tokenizer."""


def test_the_cut_moves_rarely_and_far() -> None:
    """20 messages fit; 14 are left when the cut moves, and then there is room for 6 more."""
    found = play(growing(ONES[:40]), 20)
    assert [len(sent(each)) for each in found] == [*range(2, 21), *[14, 15, 16, 17, 18, 19, 20] * 3]
    moved = BASE_PRIORITY + turn(7)
    assert [each.memory.cutoff for each in found[18:21]] == [None, moved, moved]
    assert sent(found[19]) == ["S", *[f"m{i}" for i in range(7, 20)]]
    assert sent(found[20]) == ["S", *[f"m{i}" for i in range(7, 21)]]


def test_without_memory_the_cut_moves_on_every_turn() -> None:
    found = [render(tree, token_limit=20, tokenizer=WORDS) for tree in growing(ONES[:40])]
    assert [len(sent(each)) for each in found] == [*range(2, 21), *[20] * 21]


def test_an_empty_memory_takes_what_fits_the_share_to_keep() -> None:
    tree = chat(ONES)
    assert len(sent(render(tree, token_limit=20, tokenizer=WORDS))) == 20
    first = render(tree, token_limit=20, tokenizer=WORDS, previous=Memory())
    assert len(sent(first)) == 14
    assert first.memory == Memory(cutoff=BASE_PRIORITY + turn(87))


def test_where_nothing_fits_the_share_to_keep_the_limit_decides() -> None:
    tree: Node = ["a a a a a a a a ", scope(p=1)["b "], scope(p=2)["c "]]  # 8 are required, 7 are to be kept
    found = render(tree, token_limit=10, tokenizer=WORDS, previous=Memory(cutoff=2))
    assert (found.cutoff, found.token_count) == (1, 10)
    less = render(tree, token_limit=9, tokenizer=WORDS, previous=Memory())
    assert (less.cutoff, less.memory) == (2, Memory(cutoff=2))
    with pytest.raises(PromptTooLong):
        render(tree, token_limit=7, tokenizer=WORDS, previous=Memory(cutoff=2))


# ------------------------------------------------------------------------------------------ content comes back


@given(
    st.lists(st.integers(1, 9), min_size=8, max_size=25),
    st.integers(0, 7),
    st.integers(40, 70),
    st.integers(0, 60),
    st.booleans(),
)
def test_content_comes_back_when_there_is_room(
    sizes: list[int],
    gone: int,
    limit: int,
    more: int,
    compact: bool,
) -> None:
    """After deletion, compaction or under a larger limit nothing is left out that the rules don't leave out."""
    texts = texts_of(sizes)
    last = play(growing(texts), limit)[-1]
    kept = [f"m{i}" for i in range(len(texts))] if compact else texts[: len(texts) - gone]
    tree = chat(kept)
    found = render(tree, token_limit=limit + more, tokenizer=WORDS, previous=last)
    whole = render(tree, token_limit=10**6, tokenizer=WORDS)
    if whole.token_count <= limit + more:
        assert facts_of(found) == {**facts_of(whole), "memory": Memory().to_json()}
        return
    share = render(tree, token_limit=(limit + more) * 7 // 10, tokenizer=WORDS)
    assert found.token_count > (limit + more) * 35 // 100 or found.cutoff == share.cutoff


def test_deletion_brings_back_what_was_cut() -> None:
    found = last = play(growing(ONES[:40]), 20)[-1]
    assert sent(last) == ["S", *ONES[21:40]]
    for left, shown in ((29, ONES[21:29]), (28, ONES[21:28]), (27, ONES[14:27]), (19, ONES[:19])):
        found = render(chat(ONES[:left]), token_limit=20, tokenizer=WORDS, previous=last)
        assert sent(found) == ["S", *shown], (
            left
        )  # more than 7 stay as they are, 7 become 14, 20 are all there is
    assert found.memory == Memory()


def test_a_larger_limit_brings_back_what_was_cut() -> None:
    last = play(growing(ONES), 20)[-1]
    for limit, shown in ((20, 17), (48, 17), (49, 34), (101, 101)):  # 17 are more than 0.35 of 48, not of 49
        found = render(chat(ONES), token_limit=limit, tokenizer=WORDS, previous=last)
        assert len(sent(found)) == shown, limit


def test_a_smaller_limit_moves_the_cut() -> None:
    last = play(growing(ONES), 20)[-1]
    found = render(chat(ONES), token_limit=10, tokenizer=WORDS, previous=last)
    assert sent(found) == ["S", *ONES[94:]]


def test_at_the_base_the_cut_stays_while_what_is_always_in_is_above_the_refill_mark() -> None:
    """Rule 2 to the letter: after a turn beside which no history fits, another memory is needed to bring it back."""
    history = [scope(prel=turn(i))[user_message[text]] for i, text in enumerate(ONES[:40])]
    large: Node = [system_message["s " * 8], history, user_message["q " * 12]]
    usual: Node = [system_message["s " * 8], history, user_message["q"]]
    last = render(large, token_limit=20, tokenizer=WORDS, previous=Memory())
    assert (len(sent(last)), last.cutoff) == (2, BASE_PRIORITY)
    stays = render(usual, token_limit=20, tokenizer=WORDS, previous=last)
    assert (len(sent(stays)), stays.cutoff) == (2, BASE_PRIORITY)
    anew = render(usual, token_limit=20, tokenizer=WORDS, previous=Memory())
    assert (len(sent(anew)), anew.token_count) == (7, 14)
    assert (
        len(sent(render(usual, token_limit=30, tokenizer=WORDS, previous=last))) == 14
    )  # 9 are not above 10


# ------------------------------------------------------------------------------------------ maxes and isolates


def lists(one: int, other: int) -> list[Node]:
    """Two lists that grow, each with a ceiling of 10 words."""
    return [
        at_most(token_limit=10)[[scope(prel=turn(i))[f"a{i} "] for i in range(one)]],
        at_most(token_limit=10)[[scope(prel=turn(i))[f"b{i} "] for i in range(other)]],
    ]


def test_each_max_keeps_its_own() -> None:
    found = play((lists(i, i // 2) for i in range(10, 22)), 1_000)
    texts = [(each.text or "").split() for each in found]
    ones = [sum(word[0] == "a" for word in words) for words in texts]
    others = [sum(word[0] == "b" for word in words) for words in texts]
    assert ones == [10, 7, 8, 9, 10, 7, 8, 9, 10, 7, 8, 9]
    assert others == [5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10]
    assert found[0].memory == Memory()
    assert found[-1].memory == Memory(maxes={"root > 0:max": BASE_PRIORITY + turn(12)})
    both = render(lists(21, 21), token_limit=1_000, tokenizer=WORDS, previous=found[-1])
    paths = {"root > 0:max": BASE_PRIORITY + turn(12), "root > 1:max": BASE_PRIORITY + turn(14)}
    assert both.memory.maxes == paths


def test_a_max_has_the_marks_of_its_own_limit() -> None:
    """4 words are more than 3 (0.35 of 10), 3 are not."""
    tree = at_most(token_limit=10)[[scope(prel=turn(i))[f"a{i} "] for i in range(20)]]
    for first, shown in ((16, 4), (17, 7)):
        memory = Memory(maxes={"root > 0:max": BASE_PRIORITY + turn(first)})
        found = render(tree, token_limit=1_000, tokenizer=WORDS, previous=memory)
        assert found.token_count == shown


def test_isolates_have_no_memory() -> None:
    """What an isolate shows is what it shows without memory, wherever it stands."""
    inner = isolate(token_limit=10)[[scope(prel=turn(i))[f"a{i} "] for i in range(20)]]
    within = isolate(token_limit=30)[
        at_most(token_limit=10)[[scope(prel=turn(i))[f"a{i} "] for i in range(20)]]
    ]
    for tree in (inner, within):
        memory = Memory(maxes={"root > 0:isolate > 0:max": BASE_PRIORITY + turn(15)})
        found = render(tree, token_limit=1_000, tokenizer=WORDS, previous=memory)
        assert (found.token_count, found.memory) == (10, Memory())


# ------------------------------------------------------------------------------------------ doors and arguments


@pytest.mark.anyio
async def test_all_doors_take_it() -> None:
    tree = chat(ONES)
    how: dict[str, Any] = {"token_limit": 20, "tokenizer": WORDS, "keep": 0.5, "refill": 0.2}
    due = facts_of(render(tree, previous=Memory(), **how))
    assert due["count"] == 10
    program = compile_prompt(tree)
    assert facts_of(await arender(tree, previous=Memory(), **how)) == due
    assert facts_of(program.render(previous=Memory(), **how)) == due
    assert facts_of(await program.arender(previous=Memory(), **how)) == due


def test_a_render_is_as_good_as_its_memory() -> None:
    found = play(growing(ONES[:30]), 20)[-1]
    tree = chat(ONES[:31])
    one = render(tree, token_limit=20, tokenizer=WORDS, previous=found)
    assert facts_of(one) == facts_of(render(tree, token_limit=20, tokenizer=WORDS, previous=found.memory))
    assert len(sent(one)) == 18


def test_shares_are_what_was_written() -> None:
    """0.29 * 100 is 28.999999999999996 in floats; 29 tokens are to be kept."""
    tree = [scope(p=i)["a "] for i in range(1, 102)]
    for keep in (0.29, Fraction(29, 100)):
        assert render(tree, token_limit=100, tokenizer=WORDS, previous=Memory(), keep=keep).token_count == 29
    # 29 are the refill mark then, and a cutoff has to be above it to stay.
    for cutoff, tokens in ((72, 30), (73, 58)):
        how: dict[str, Any] = {"keep": 0.58, "refill": 0.29, "previous": Memory(cutoff=cutoff)}
        assert render(tree, token_limit=100, tokenizer=WORDS, **how).token_count == tokens


@pytest.mark.parametrize("previous", [0, 7.5, "m", {"cutoff": 3}, True, object])
def test_what_is_no_memory_is_refused(previous: Any) -> None:
    with pytest.raises(
        ArgumentTypeError,
        match=r"previous needs the last Rendered, its memory, or Memory\(\) to begin with, got",
    ):
        render("a", token_limit=9, previous=previous)


@pytest.mark.parametrize("name", ["keep", "refill"])
@pytest.mark.parametrize("share", [True, "0.7", None.__class__, [0.7], 1j])
def test_a_share_is_a_number(name: str, share: Any) -> None:
    with pytest.raises(
        ArgumentTypeError, match=rf"{name} needs a share of the limit, such as 0\.7, got {name}="
    ):
        render("a", token_limit=9, previous=Memory(), **{name: share})


@pytest.mark.parametrize("name", ["keep", "refill"])
@pytest.mark.parametrize("share", [0, -0.1, 1.01, 2, float("nan"), float("inf")])
def test_a_share_lies_above_0_and_is_1_at_most(name: str, share: Any) -> None:
    with pytest.raises(ArgumentValueError, match=rf"{name} needs to be above 0 and at most 1, got {name}="):
        render("a", token_limit=9, previous=Memory(), **{name: share})


class Share(float, Enum):
    """A float that is written with its name."""

    MOST = 0.7


class One(IntEnum):
    """A whole number that is written with its name."""

    ALL = 1

    def __str__(self) -> str:
        return "all"


def test_shares_of_subclasses_are_their_plain_numbers() -> None:
    tree = chat(ONES)
    for share, count in ((Share.MOST, 14), (One.ALL, 20), (Fraction(7, 10**400), 20)):
        found = render(tree, token_limit=20, tokenizer=WORDS, previous=Memory(), keep=share)
        assert found.token_count == count


def test_shares_are_told_in_short() -> None:
    for share, told in (
        (10**5_000, f"1{'0' * 27}...{'0' * 29}"),
        (Fraction(10**50, 3), f"1{'0' * 27}...{'0' * 22}/3"),
        (Fraction(-1, 3), "-1/3"),
        (Fraction(2), "2"),
    ):
        with pytest.raises(ArgumentValueError) as error:
            render("a", token_limit=9, previous=Memory(), keep=share)
        assert len(str(error.value)) < 150
        if share != 10**5_000 and share != Fraction(10**50, 3):
            assert str(error.value) == f"keep needs to be above 0 and at most 1, got keep={told}"
    with pytest.raises(ArgumentValueError) as error:
        render("a", token_limit=9, previous=Memory(), keep=Fraction(1, 3), refill=Fraction(1, 2))
    assert str(error.value) == "refill needs to be keep=1/3 at most, got refill=1/2"


def test_refill_is_not_above_keep() -> None:
    with pytest.raises(ArgumentValueError, match=r"refill needs to be keep=0\.5 at most, got refill=0\.6"):
        render("a", token_limit=9, previous=Memory(), keep=0.5, refill=0.6)
    render("a", token_limit=9, previous=Memory(), keep=0.5, refill=0.5)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (None, ArgumentTypeError),
        ([], ArgumentTypeError),
        ({"cutoff": "3"}, ArgumentTypeError),
        ({"cutoff": True}, ArgumentTypeError),
        ({"cutoff": float("nan")}, ArgumentValueError),
        ({"cutoff": BASE_PRIORITY + 1}, ArgumentValueError),
        ({"cutoff": 3, "maxes": []}, ArgumentTypeError),
        ({"maxes": {"root": None}}, ArgumentTypeError),
        ({"maxes": {3: 3}}, ArgumentTypeError),
        ({"cut": 3}, ArgumentValueError),
        ({"maxes": ((1, 2, 3),)}, ArgumentTypeError),
        ({"maxes": (3,)}, ArgumentTypeError),
        ({"maxes": ("ab",)}, ArgumentTypeError),
        ({"maxes": (("a", 1),)}, ArgumentTypeError),
    ],
)
def test_what_is_no_json_of_a_memory_is_refused(data: Any, kind: type[PromptError]) -> None:
    with pytest.raises(kind, match=r"^Memory"):
        Memory.from_json(data)


def test_a_memory_cannot_be_changed() -> None:
    memory = Memory(cutoff=3, maxes={"root > 0:max": 4})
    memory.maxes["root > 0:max"] = 5
    assert memory.maxes == {"root > 0:max": 4}
    with pytest.raises(AttributeError):
        setattr(memory, "cutoff", 4)  # noqa: B010 - type checkers refuse the plain form
    assert repr(memory) == "Memory(cutoff=3, maxes={'root > 0:max': 4})"
    assert (bool(memory), bool(Memory())) == (True, False)
    assert attrs.evolve(memory, cutoff=4) == Memory(cutoff=4, maxes={"root > 0:max": 4})
    assert pickle.loads(pickle.dumps(memory)) == memory  # noqa: S301 - our own


# ------------------------------------------------------------------------------------------ what went wrong for others


def test_a_window_that_would_slide_by_one_message_each_turn() -> None:
    """BC-083: a token a message, a limit of 10, 30 turns."""
    trees = [[scope(prel=turn(i))[f"m{i} "] for i in range(end)] for end in range(1, 31)]
    found = play(trees, 10)
    assert all(each.token_count <= 10 for each in found)
    moves = 0
    for before, after in pairwise(found):
        one, other = before.text or "", after.text or ""
        if other.startswith(one):
            assert len(other) > len(one)
        else:
            moves += 1
    binding = 20  # turns 11 to 30
    assert moves == 5
    assert 3 * moves <= binding


def test_priorities_counted_from_the_newest_turn_make_a_window_that_slides() -> None:
    trees = [[scope(prel=i - end)[f"m{i} "] for i in range(end)] for end in range(1, 31)]
    texts = [each.text or "" for each in play(trees, 10)]
    assert sum(not other.startswith(one) for one, other in pairwise(texts)) == 20
