"""What holds for every chat, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from priompt_py import PromptTooLong, render
from priompt_py.context import (
    Message,
    Pass,
    apply_compaction,
    assemble,
    clean_tools,
    dedupe,
    default_pipeline,
    drop_errors,
    drop_ineligible,
    expire,
    flatten_tools,
    limit_messages,
    prune,
    repair_tool_pairs,
    restore,
)
from priompt_py.context.histories import messages_of_chat
from priompt_py.context.messages import CompactionPoint
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.properties import (
    accounted,
    halves,
    ids,
    is_subsequence,
    newly_empty,
    protected_ids,
    wrong_pairs,
)
from tests.context.strategies import chats

WORDS = WordTokenizer()


def count(text: str) -> int:
    return len(text.split())


DROPPING: dict[str, Callable[[], Pass]] = {
    "limit": lambda: limit_messages(n=3, count=count),
    "limit 0": lambda: limit_messages(n=0, count=count),
    "sticky": lambda: limit_messages(n=5, sticky=True, count=count),
    "expire": lambda: expire(max_age=3, count=count),
    "dedupe": lambda: dedupe(count=count),
    "dedupe 1": lambda: dedupe(ngram=1, count=count),
    "prune": lambda: prune(max_age=3, count=count),
}
LIMITS = ("limit", "limit 0", "sticky")


@pytest.mark.parametrize("name", DROPPING)
@given(messages=chats())
def test_dropping_passes(name: str, messages: list[Message]) -> None:
    before = list(messages)
    result = DROPPING[name]()(messages)
    assert messages == before
    assert is_subsequence(ids(result.messages), ids(messages))
    assert protected_ids(messages, last_turn=name not in LIMITS) <= set(ids(result.messages))
    assert [*halves(messages, result.messages), *accounted(messages, result)] == []
    assert result.report.tokens_before is not None
    assert result.report.tokens_after is not None
    assert result.report.tokens_after <= result.report.tokens_before
    assert DROPPING[name]()(messages) == result
    if messages and name in LIMITS:
        assert result.messages[-1].id == messages[-1].id


@given(messages=chats())
def test_what_models_do_not_see(messages: list[Message]) -> None:
    for one in (drop_ineligible(), drop_errors()):
        result = one(messages)
        assert [*halves(messages, result.messages), *accounted(messages, result)] == []
        assert is_subsequence(ids(result.messages), ids(messages))
    seen = drop_errors()(drop_ineligible()(messages).messages).messages
    assert not any(one.hidden or one.generating or one.error for one in seen)


@given(messages=chats(), boundary=st.integers(0, 13), summary=st.integers(0, 13))
def test_compaction(messages: list[Message], boundary: int, summary: int) -> None:
    point = CompactionPoint(f"m{summary}", f"m{boundary}", 1)
    assume(summary >= len(messages) or not (messages[summary].calls or messages[summary].results))
    result = apply_compaction(points=[point])(messages)
    kept = ids(result.messages)
    assert list(halves(messages, result.messages)) == []
    assert list(accounted(messages, result)) == []
    applies = {point.summary_id, point.boundary_id} <= set(ids(messages))
    always = {one.id for one in messages if one.pinned or one.role in ("system", "developer")}
    assert always <= set(kept)
    summaries = [one.id for one in result.messages if one.is_summary and not one.pinned]
    assert set(summaries) <= ({point.summary_id} if applies else set())
    if applies:
        assert point.summary_id in kept
        assert set(ids(messages[boundary + 1 :])) - {one.id for one in messages if one.is_summary} <= set(
            kept
        )


@pytest.mark.parametrize("mode", ["remove", "stub"])
@given(messages=chats(), keep=st.integers(-1, 3))
def test_tool_cleanup(mode: Literal["remove", "stub"], messages: list[Message], keep: int) -> None:
    clean = clean_tools(keep_rounds=keep, mode=mode)
    result = clean(messages)
    assert is_subsequence(ids(result.messages), ids(messages))
    assert {one.id for one in messages if one.pinned} <= set(ids(result.messages))
    assert list(accounted(messages, result)) == []
    assert list(newly_empty(messages, result.messages)) == []
    assert clean(result.messages).messages == result.messages
    if keep < 0:
        assert result.messages == messages


@given(messages=chats())
def test_pairs(messages: list[Message]) -> None:
    result = repair_tool_pairs()(messages)
    assert list(wrong_pairs(result.messages)) == []
    assert is_subsequence(ids(result.messages), ids(messages))
    sendable = {one.id for one in messages if one.role != "tool"}
    assert protected_ids(messages, last_turn=False) & sendable <= set(ids(result.messages))
    assert [*accounted(messages, result), *newly_empty(messages, result.messages)] == []
    assert repair_tool_pairs()(result.messages).messages == result.messages
    assert repair_tool_pairs()(result.messages).report.dropped == ()
    flat = flatten_tools()(messages)
    assert ids(flat.messages) == ids(messages)
    assert not any(one.calls or one.results or one.role == "tool" for one in flat.messages)


@given(messages=chats(), most=st.none() | st.integers(0, 6), rounds=st.integers(-1, 2), pruned=st.booleans())
def test_the_default_pipeline(
    messages: list[Message], most: int | None, rounds: int, *, pruned: bool
) -> None:
    run = default_pipeline((), prune(max_age=3) if pruned else None, most, rounds)
    before = list(messages)
    after, report = run(messages)
    assert messages == before
    assert list(wrong_pairs(after)) == []
    assert is_subsequence(ids(after), ids(messages))
    assert run(messages) == (after, report)
    dropped = [drop.message_id for one in report.passes for drop in one.dropped if drop.part is None]
    assert sorted([*dropped, *ids(after)]) == sorted(ids(messages))


@given(messages=chats())
def test_pruning_twice(messages: list[Message]) -> None:
    once = prune(max_age=3)(messages)
    # A definition that came back can swallow one of its own references; and where positions stood in for steps, the
    # steps may count once those without one are gone.
    if not once.report.restored and not once.report.notes:
        assert prune(max_age=3)(once.messages).messages == once.messages


@given(messages=chats())
def test_demoting_drops_nothing(messages: list[Message]) -> None:
    dropped, demoted = prune(max_age=3)(messages), prune(max_age=3, mode="demote")(messages)
    assert demoted.messages == messages
    assert demoted.report.dropped == ()
    assert demoted.report.demoted == dropped.report.dropped
    low = {one.message_id for one in dropped.report.dropped}
    lifted = {one.message_id for one in dropped.report.restored}
    assert set(demoted.priorities) == low | lifted
    assert all(demoted.priorities[one] < -2_000_000 for one in low)
    assert all(-1_000_000 <= demoted.priorities[one] < 0 for one in lifted)
    assert dropped.priorities == {}


@given(messages=chats())
def test_stages_alone_make_the_first_pass(messages: list[Message]) -> None:
    expired = expire(max_age=3)(messages)
    unique = dedupe()(expired.messages)
    gone = [drop.message_id for drop in expired.report.dropped]
    last = restore(original=messages, expired=gone)(unique.messages)
    whole = prune(max_age=3, passes=1)(messages)
    if whole.report.notes == ():  # by steps: then dedupe's last user message is the same, and so is all
        assert last.messages == whole.messages
        assert last.report.restored == whole.report.restored


@given(
    messages=chats(), limit=st.integers(0, 200), kind=st.sampled_from(["ladder", "envelope", "preprocess"])
)
def test_every_tree_can_be_rendered(
    messages: list[Message], limit: int, kind: Literal["ladder", "envelope", "preprocess"]
) -> None:
    run = default_pipeline((), prune(max_age=3, mode="demote"))
    assembly = assemble(messages, window=1_000, tokenizer=WORDS, passes=run, attachments=kind)
    whole = render(assembly.node, token_limit=100_000, tokenizer=WORDS)
    assert list(wrong_pairs(messages_of_chat(whole.messages or ()))) == []
    assert len(whole.messages or ()) >= len(assembly.messages)
    try:
        rendered = render(assembly.node, token_limit=limit, tokenizer=WORDS)
    except PromptTooLong:
        return
    assert list(wrong_pairs(messages_of_chat(rendered.messages or ()))) == []
