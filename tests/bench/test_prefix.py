from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import attrs
import pytest

from bench.prefix import run
from bench.prefix.cache import Block, MarkedCache, SteppedCache, Usage, cost, make_cache
from bench.prefix.conversations import CONVERSATIONS, LIMIT, Conversation, calls_of, prompt_of
from bench.prefix.play import binding, fresh_share, play
from bench.prefix.plot import Line, svg
from bench.prefix.policies import exact, memory, window
from bench.prefix.report import Row, goals, page
from bench.prefix.rules import ANTHROPIC, OPENAI_MARKS, OPENAI_STEPS, RULES, Rules
from bench.prefix.sent import anthropic_blocks, openai_blocks, tokens_of
from priompt_py import Memory, render, system_message, user_message
from tests.providers.sdk_types import check_anthropic, check_messages_of_anthropic, check_request

STEPS = OPENAI_STEPS._replace(minimum=4, step=2, lifetime=10)
MARKS = ANTHROPIC._replace(minimum=4, lifetime=10, marks=2, look_back=3)


def blocks(*sizes: int, marks: tuple[int, ...] = (), first: int = 0) -> list[Block]:
    """Blocks of these sizes; each has a number of its own as its tokens."""
    return [Block("b", (first + i if i == 0 else i,) * size, mark=i in marks) for i, size in enumerate(sizes)]


# ------------------------------------------------------------------------------------------ the caches


def test_steps_from_a_minimum_on() -> None:
    cache = SteppedCache(STEPS)
    assert cache.ask(blocks(3), 0) == Usage(0, 0, 3)
    assert cache.ask(blocks(3), 0) == Usage(0, 0, 3)  # below the minimum
    assert cache.ask(blocks(3, 4), 0) == Usage(0, 0, 7)
    assert cache.ask(blocks(3, 4, 2), 0) == Usage(6, 0, 3)  # 7 are the same, 6 whole steps
    assert cache.ask(blocks(3, 2, 9), 0) == Usage(4, 0, 10)  # 5 are the same
    assert cache.ask(blocks(3, 4, first=7), 0) == Usage(0, 0, 7)  # another beginning


def test_steps_live_on_after_each_use() -> None:
    cache = SteppedCache(STEPS)
    cache.ask(blocks(8), 0)
    assert cache.ask(blocks(8), 10).read == 8
    assert cache.ask(blocks(8), 20).read == 8
    assert cache.ask(blocks(8), 31).read == 0


def test_marks_are_written_and_found_within_the_look_back() -> None:
    cache = MarkedCache(MARKS)
    assert cache.ask(blocks(4, 1, marks=(0,)), 0) == Usage(0, 4, 1)
    assert cache.ask(blocks(4, 1, 1, marks=(2,)), 0) == Usage(4, 2, 0)  # block 0 is the third from the mark
    assert cache.ask(blocks(4, 2, 1, 1, marks=(3,)), 0) == Usage(0, 8, 0)  # the fourth: out of reach
    assert cache.ask(blocks(4, 2, 1, 1, marks=(0, 3)), 0) == Usage(8, 0, 0)
    assert cache.ask(blocks(4, 1, 1, 5), 0) == Usage(0, 0, 11)  # no mark, nothing is read


def test_what_is_short_is_not_written() -> None:
    cache = MarkedCache(MARKS)
    assert cache.ask(blocks(3, 1, marks=(0,)), 0) == Usage(0, 0, 4)
    assert cache.ask(blocks(3, 1, marks=(0,)), 0) == Usage(0, 0, 4)


def test_of_too_many_marks_the_latest_count() -> None:
    cache = MarkedCache(MARKS._replace(look_back=1))
    cache.ask(blocks(4, 1, 1, marks=(0, 1, 2)), 0)
    assert cache.ask(blocks(4, 9, marks=(0,)), 0).read == 0
    assert cache.ask(blocks(4, 1, 9, marks=(1,)), 0).read == 5


def test_unlimited_marks_find_whatever_is_the_same() -> None:
    cache = MarkedCache(MARKS, unlimited=True)
    cache.ask(blocks(4, 1, 1, 1, 1, 1), 0)
    assert cache.ask(blocks(4, 1, 1, 1, 1, 2), 0) == Usage(8, 2, 0)


def test_marks_live_on_where_they_are_read() -> None:
    cache = MarkedCache(MARKS)
    cache.ask(blocks(4, marks=(0,)), 0)
    assert cache.ask(blocks(4, 1, marks=(1,)), 9) == Usage(4, 1, 0)
    assert cache.ask(blocks(4, 2, marks=(1,)), 18).read == 4
    assert cache.ask(blocks(4, 2, marks=(1,)), 40).read == 0


def test_blocks_of_another_kind_are_others() -> None:
    cache = MarkedCache(MARKS)
    cache.ask([Block("system", (1,) * 9, mark=True)], 0)
    assert cache.ask([Block("user", (1,) * 9, mark=True)], 0).read == 0


def test_costs() -> None:
    assert cost(Usage(1_000_000, 0, 0), ANTHROPIC) == pytest.approx(0.50)
    assert cost(Usage(0, 1_000_000, 0), ANTHROPIC) == pytest.approx(6.25)
    assert cost(Usage(0, 0, 1_000_000), ANTHROPIC) == pytest.approx(5.00)
    assert cost(Usage(500_000, 0, 500_000), OPENAI_STEPS) == pytest.approx(1.375)
    assert Usage(1, 2, 3).uncached == 5


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
def test_rules_have_their_sources(rules: Rules) -> None:
    assert rules.sources
    assert rules.minimum >= 512
    assert 0 < rules.read < 1 <= rules.write
    assert type(make_cache(rules)) is (SteppedCache if rules.kind == "steps" else MarkedCache)


# ------------------------------------------------------------------------------------------ requests


@pytest.mark.parametrize(("number", "most"), [(1, 1.0), (5, 1.2)])
def test_tokens_of_requests_are_nearly_those_that_are_counted(number: int, most: float) -> None:
    """Structures are JSON here: calls and tools take some more tokens than by the recipes. The answer's start is no
    part of a request."""
    conversation = CONVERSATIONS[number]
    (*_, call) = calls_of(conversation, 8)
    rendered = render(prompt_of(conversation, call), token_limit=LIMIT)
    for request in (
        openai_blocks(rendered.to_openai(), implicit=False),
        anthropic_blocks(rendered.to_anthropic()),
    ):
        tokens = sum(len(block.tokens) for block in request)
        assert 0.99 < tokens / rendered.token_count <= most


def test_marks_of_requests() -> None:
    tree = [system_message["S"], user_message["a"], user_message["b"]]
    request = render(tree, token_limit=99).to_openai()
    assert [block.mark for block in openai_blocks(request, implicit=True)] == [False, False, True]
    assert [block.mark for block in openai_blocks(request, implicit=False)] == [False] * 3
    frame = tokens_of("user")[:1] * 4
    assert next(reversed(list(openai_blocks(request, implicit=True)))) == Block(
        "user text", frame + tokens_of("b"), mark=True
    )


def few_calls(conversation: Conversation) -> Iterator[Any]:
    """Renders with memory of the calls around the first one at which the limit binds."""
    remembered = Memory()
    for call in calls_of(conversation, binding(conversation) + 3):
        rendered = render(prompt_of(conversation, call), token_limit=LIMIT, previous=remembered)
        remembered = rendered.memory
        yield rendered


@pytest.mark.parametrize("conversation", CONVERSATIONS[3::2], ids=lambda conversation: conversation.name)
def test_marked_requests_are_well_formed(conversation: Conversation) -> None:
    (*_, one, other) = few_calls(conversation)
    for rendered in (one, other):
        request = rendered.to_anthropic(cache="auto")
        check_anthropic(request)
        check_messages_of_anthropic(request["messages"])
        marks = sum(block.mark for block in anthropic_blocks(request))
        assert marks == (4 if conversation.kind == "agent" else 3)
        asked = rendered.to_openai(cache_marks=True)
        check_request(asked)
        expected = 2 if conversation.place == "after" and conversation.file else 1
        assert sum(block.mark for block in openai_blocks(asked, implicit=False)) == expected


# ------------------------------------------------------------------------------------------ conversations


def test_conversations_are_the_same_on_every_run_and_only_grow() -> None:
    conversation = CONVERSATIONS[-1]
    one, other = list(calls_of(conversation, 6)), list(calls_of(conversation, 6))
    assert one == other
    assert one[3].file != one[4].file
    assert list(one[4].history)[: len(one[3].history)] == list(one[3].history)
    assert one[3].newest in one[4].history


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation.name)
def test_sizes_are_what_names_say(conversation: Conversation) -> None:
    expected = conversation.turn * conversation.at_once
    file = conversation.file if conversation.place == "after" else 0
    assert fresh_share(conversation, 40) * LIMIT == pytest.approx(expected + file, rel=0.25, abs=60)


def test_ways_of_cutting() -> None:
    conversation = CONVERSATIONS[3]
    found = {
        name: play(conversation, make(conversation), name, calls=12)
        for name, make in (("exact", exact), ("memory", memory), ("window", window))
    }
    assert all(max(played.tokens) <= LIMIT for played in found.values())
    assert found["exact"].cuts >= 11
    assert found["memory"].cuts <= 7
    assert found["window"].cuts == 12
    row = Row(conversation, 0.18, found)
    assert row.share("memory") < 0.6 < row.share("window")
    assert not row.counts
    assert row.auto > 0.9
    assert [goal.name for goal in goals([row])] == [
        'chat, turns of 0.18: cache="auto"',
        "chat, turns of 0.18: marks",
    ]
    small = attrs.evolve(row, fresh=0.1)
    assert [goal.met for goal in goals([small])] == [row.share("memory") <= 0.5, True, True, True]
    text = page([row], [row], calls=12, pictures=[("Title", "a.svg")])
    assert text.count("| chat, turns of 0.18 |") == 3
    assert "![Title](a.svg)" in text
    assert OPENAI_MARKS.model in text


def test_pauses_lose_what_lives_for_minutes() -> None:
    conversation = CONVERSATIONS[3]
    steady, paused = (
        play(conversation, memory(conversation), "memory", calls=6, gaps=gaps) for gaps in ((45.0,), (600.0,))
    )
    assert paused.auto == 0 < steady.auto
    assert paused.uncached[ANTHROPIC.name] > sum(paused.tokens) * 0.99  # it counts frames its own way
    assert (
        paused.uncached[OPENAI_MARKS.name] == steady.uncached[OPENAI_MARKS.name]
    )  # those live for half an hour


def test_auto_marks_read_nearly_what_unlimited_ones_would() -> None:
    for conversation in (CONVERSATIONS[3], CONVERSATIONS[7], CONVERSATIONS[8], CONVERSATIONS[9]):
        played = play(conversation, memory(conversation), "memory", calls=8)
        assert played.marks <= 4
        assert played.auto >= 0.9 * played.most > 0


@pytest.mark.parametrize(("at_once", "reads"), [(18, True), (20, False)])
def test_many_calls_at_once_are_beyond_the_look_back(at_once: int, reads: bool) -> None:
    conversation = Conversation("many", "agent", 20, at_once=at_once)
    played = play(conversation, memory(conversation), "memory", calls=6)
    assert played.auto == (played.most if reads else 0)
    assert played.most > 0


# ------------------------------------------------------------------------------------------ the page


def test_picture_has_a_line_for_each_way() -> None:
    picture = svg("A & B", [Line("exact", [(0, 0), (2, 30)]), Line("memory", [(0, 0), (2, 7)])], "x", "y")
    root = ET.fromstring(picture)  # noqa: S314 - our own
    assert [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")] == ["A & B"]
    assert picture.count('class="line s-exact"') == 2  # the line, and its place in the legend


def test_a_quick_run_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "QUICK", CONVERSATIONS[3:4])
    monkeypatch.setattr(run, "PAUSED", CONVERSATIONS[3])
    monkeypatch.setattr(run, "poet_installed", lambda: False)
    assert run.main(["--quick"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 2 goals met" in printed
    assert "Prompt Poet's step |" not in printed
