from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from priompt_py.errors import PromptError, ProviderError
from priompt_py.face.render import render
from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import Call, Capture, ToolDefinition
from priompt_py.model.outcome import Decision, Outcome
from priompt_py.model.place import ROOT, Place
from priompt_py.model.prompt import ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.model.source_map import SourceMap, Span
from priompt_py.providers import openai, plain
from priompt_py.tokens.bpe import BpeTokenizer
from priompt_py.tokens.chat_format import OPENAI_CHAT_O200K
from priompt_py.tokens.limits import limit_for
from tests.providers.chats import chat, text_message
from tests.providers.chats import plain as plain_prompt

O200K = BpeTokenizer("o200k_base")
CHAT = chat(
    text_message("system", "Be brief."),
    text_message("user", "hello world"),
    token_count=4 + 3 + 4 + 2 + 3,
    tokens_reserved=600,
    token_limit=4_000,
)
PLAIN = plain_prompt("hello world", token_count=2, token_limit=10, cutoff=-3)
SPANS = SourceMap("hello world", Span(0, 11, ROOT, "root"))


class Asked:
    """Counts how often it is called."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.times = 0

    def __call__(self) -> Any:
        self.times += 1
        return self.result


def decision(count: Callable[[], int] = lambda: 7) -> Decision:
    return Decision(
        place=Place("root > 0:scope"),
        label=None,
        kind="scope",
        included=True,
        priority=1,
        effective_priority=1,
        low=0,
        high=1,
        reason="included",
        count=count,
    )


def rendered(
    outcome: Outcome = CHAT,
    decide: Callable[[], tuple[Decision, ...]] = tuple,
    spans: Callable[[], SourceMap] | None = None,
) -> Rendered:
    return Rendered(
        outcome=outcome, tokenizer=O200K, chat_format=OPENAI_CHAT_O200K, decide=decide, spans=spans
    )


def test_a_chat() -> None:
    found = rendered()
    assert found.text is None
    assert found.messages == CHAT.messages
    assert (found.token_count, found.tokens_reserved, found.token_limit) == (16, 600, 4_000)
    assert found.tokens_remaining == 3_984
    assert found.count_kind == "exact"
    assert found.cutoff == 0
    assert (found.tools, found.captures, found.tool_definitions) == ((), (), ())
    assert found.source_map is None


def test_a_plain_prompt() -> None:
    found = rendered(PLAIN)
    assert found.text == "hello world"
    assert found.messages is None
    assert found.tokens_remaining == 8
    assert found.cutoff == -3


def test_handlers_and_settings() -> None:
    capture, tool = Capture(on_output=print), ToolDefinition(name="look", on_call=print)
    config = PromptConfig(stop="x", max_response_tokens=5)
    found = rendered(
        attrs.evolve(
            CHAT, captures=(capture,), tool_definitions=(tool,), tools=(Tool("look", "", {}),), config=config
        )
    )
    assert found.captures == (capture,)
    assert found.tool_definitions == (tool,)
    assert found.tools == (Tool("look", "", {}),)
    assert found.config == config


def test_it_is_immutable() -> None:
    found: Any = rendered()
    for name in ("token_count", "text", "messages", "extra", "_outcome"):
        with pytest.raises(AttributeError):
            setattr(found, name, 5)


# ------------------------------------------------------------------------------------------ made when asked for


def test_decisions_are_made_once_and_late() -> None:
    asked = Asked((decision(),))
    found = rendered(decide=asked)
    assert asked.times == 0
    assert found.decisions is found.decisions
    assert asked.times == 1


def test_the_source_map_is_made_once_and_late() -> None:
    asked = Asked(SPANS)
    found = rendered(PLAIN, spans=asked)
    assert asked.times == 0
    assert found.source_map is found.source_map is SPANS
    assert asked.times == 1


def test_a_failure_is_not_kept() -> None:
    results: list[tuple[Decision, ...]] = []

    def decide() -> tuple[Decision, ...]:
        results.append((decision(),))
        if len(results) == 1:
            raise ValueError("no")
        return results[-1]

    found = rendered(decide=decide)
    with pytest.raises(ValueError, match="no"):
        _ = found.decisions
    assert len(found.decisions) == 1


# ------------------------------------------------------------------------------------------ conversions


@pytest.mark.parametrize("outcome", [CHAT, PLAIN], ids=["chat", "plain"])
def test_conversions_are_those_of_the_providers(outcome: Outcome) -> None:
    found = rendered(outcome)
    assert found.to_openai() == openai.to_openai(outcome)
    assert found.to_text() == plain.to_text(outcome, OPENAI_CHAT_O200K)
    assert found.to_tokens() == plain.to_tokens(outcome, O200K, OPENAI_CHAT_O200K)
    assert len(found.to_tokens()) == found.token_count
    assert found.to_messages() == plain.to_messages(outcome)
    assert found.to_json() == plain.to_json(outcome)


def test_options_of_conversions() -> None:
    config = PromptConfig(max_response_tokens=5)
    marked = rendered(attrs.evolve(PLAIN, text=TextPart("<|im_end|>"), config=config))
    assert marked.to_openai(max_tokens_key="max_tokens")["max_tokens"] == 5
    assert marked.to_text() == "<|im_end|>"
    assert marked.to_text(defuse=True) == "<| im_end|>"


def test_decisions_are_in_json_where_asked_for() -> None:
    asked = Asked((decision(),))
    found = rendered(decide=asked)
    assert "decisions" not in found.to_json()
    assert asked.times == 0
    (written,) = json.loads(json.dumps(found.to_json(decisions=True)))["decisions"]
    assert (written["path"], written["tokens"]) == ("root > 0:scope", 7)


def test_conversions_do_not_change_it() -> None:
    found = rendered(attrs.evolve(CHAT, config=PromptConfig(extra={"metadata": {"a": "b"}})))
    found.to_openai()["metadata"]["a"] = "spoilt"
    found.to_json()["config"]["extra"]["metadata"]["a"] = "spoilt"
    assert found.to_openai()["metadata"] == {"a": "b"}


def test_errors_of_conversions_reach_the_caller() -> None:
    found = rendered(chat(ChatMessage("assistant", tool_calls=(Call("c", "look", "{}"),))))
    with pytest.raises(ProviderError, match="tool calls have no token ids"):
        found.to_tokens()


# ------------------------------------------------------------------------------------------ as a value


def test_equal_if_what_it_holds_is() -> None:
    same = rendered(attrs.evolve(CHAT), decide=lambda: (decision(),))
    assert rendered() == same
    assert hash(rendered()) == hash(same)
    for other in (
        attrs.evolve(CHAT, token_limit=4_001),
        attrs.evolve(CHAT, cutoff=1),
        attrs.evolve(CHAT, messages=(text_message("user", "hello world"),)),
        attrs.evolve(CHAT, config=PromptConfig(stop="x")),
        PLAIN,
    ):
        assert rendered() != rendered(other)
    assert rendered() != CHAT
    assert len({rendered(), same, rendered(PLAIN)}) == 2


def test_hashable_whatever_authors_gave() -> None:
    hash(
        rendered(
            attrs.evolve(CHAT, config=PromptConfig(extra={"a": []}), tools=(Tool("look", "", {"a": []}),))
        )
    )


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        (CHAT, "<Rendered 2 messages: 16 + 600 reserved of 4000 tokens, cutoff 0>"),
        (PLAIN, "<Rendered 'hello world': 2 of 10 tokens, cutoff -3>"),
        (
            plain_prompt("x" * 10_000, count_kind="upper_bound"),
            f"<Rendered '{'x' * 37}...': 0 of 1000 tokens (upper bound), cutoff 0>",
        ),
        (
            chat(text_message("user", "q"), tools=[Tool("look", "", {})]),
            "<Rendered 1 message, 1 tool: 0 of 1000 tokens, cutoff 0>",
        ),
        (
            chat(tools=[Tool("look", "", {}), Tool("wait", "", {})]),
            "<Rendered 0 messages, 2 tools: 0 of 1000 tokens, cutoff 0>",
        ),
    ],
)
def test_repr_is_short(outcome: Outcome, shown: str) -> None:
    assert repr(rendered(outcome)) == shown


def test_copies_are_itself() -> None:
    found = rendered()
    assert copy.copy(found) is found
    assert copy.deepcopy([found])[0] is found


# ------------------------------------------------------------------------------------------ pickling


def again(found: Rendered) -> Rendered:
    copied = pickle.loads(pickle.dumps(found))  # noqa: S301 - made here
    assert isinstance(copied, Rendered)
    assert copied is not found
    return copied


@pytest.mark.parametrize("outcome", [CHAT, PLAIN], ids=["chat", "plain"])
def test_pickled_it_converts_as_before(outcome: Outcome) -> None:
    found = rendered(outcome)
    copied = again(found)
    assert copied == found
    assert repr(copied) == repr(found)
    assert copied.to_tokens() == found.to_tokens()
    assert copied.to_openai() == found.to_openai()
    assert copied.source_map is None


def test_pickled_it_keeps_what_was_asked_for() -> None:
    counted = Asked(9)
    found = rendered(decide=lambda: (decision(counted),), spans=lambda: SPANS)
    assert found.source_map is SPANS
    assert found.decisions[0].tokens == 9
    copied = again(again(found))
    assert [(d.path, d.reason, d.tokens) for d in copied.decisions] == [("root > 0:scope", "included", 9)]
    assert copied.source_map == SPANS
    assert copied.to_json(decisions=True) == found.to_json(decisions=True)


def test_pickled_it_has_lost_what_nobody_asked_for() -> None:
    copied = again(rendered(spans=lambda: SPANS))
    with pytest.raises(
        PromptError, match=r"pickled before its decisions were made; ask for \.decisions before"
    ):
        _ = copied.decisions
    with pytest.raises(
        PromptError, match=r"pickled before its source map was made; ask for \.source_map before"
    ):
        _ = again(copied).source_map


def test_limit_from_says_which_setting_decided() -> None:
    assert render("x", token_limit=5).limit_from == "token_limit (5)"
    chosen = limit_for(window=10, answer=3, limits=[("token_limit", 9)])
    found = render("x", token_limit=chosen)
    assert (found.token_limit, found.limit_from) == (7, "window (10) - answer (3)")
    assert found == render("x", token_limit=7)
