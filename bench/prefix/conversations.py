"""Growing conversations, as plain data that is the same on every run, and the prompt of each call.

Texts come from two files beside the examples, so that they don't depend on the Python that runs this.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from priompt_py import (
    Element,
    Node,
    assistant_message,
    cache_break,
    config,
    scope,
    system_message,
    tool_definition,
    tool_message,
    turn,
    user_message,
)

__all__ = ["CONVERSATIONS", "LIMIT", "Call", "Conversation", "Step", "calls_of", "prompt_of"]

LIMIT = 8_000
"""Tokens: the limit that every prompt is rendered under."""

TEXTS = Path(__file__).parents[2] / "examples" / "data"
SPREAD = (0.5, 1.5)  # a text has this part of its mean size, evenly drawn

Kind: TypeAlias = Literal["chat", "agent", "coding"]
FilePlace: TypeAlias = Literal["before", "after"]


class Conversation(NamedTuple):
    """A kind of conversation, and its sizes in tokens.

    ``turn`` is what each call adds to the history: question and answer, or ``at_once`` calls of tools and their results
    (``turn`` is each result then). A ``coding`` conversation shows a file of ``file`` tokens before or after the history, a
    tenth of which changes with every ``edited``-th call.
    """

    name: str
    kind: Kind
    turn: int
    file: int = 0
    place: FilePlace = "before"
    edited: int = 0
    at_once: int = 1
    seed: int = 1


CONVERSATIONS = (
    Conversation("chat, turns of 0.02", "chat", 160),
    Conversation("chat, turns of 0.06", "chat", 480),
    Conversation("chat, turns of 0.12", "chat", 960),
    Conversation("chat, turns of 0.18", "chat", 1_440),
    Conversation("agent, results of 150", "agent", 150),
    Conversation("agent, results of 400", "agent", 400),
    Conversation("agent, results of 800", "agent", 800),
    Conversation("agent, results of 1,200", "agent", 1_200),
    Conversation("agent, 12 results of 50 at once", "agent", 50, at_once=12),
    Conversation("coding, small file after, every turn", "coding", 240, 600, "after", 1),
    Conversation("coding, file after, every turn", "coding", 240, 1_500, "after", 1),
    Conversation("coding, large turns, file after, every turn", "coding", 720, 1_500, "after", 1),
    Conversation("coding, file before, every third turn", "coding", 240, 1_500, "before", 3),
    Conversation("coding, large turns, file before, every third turn", "coding", 720, 1_500, "before", 3),
    Conversation("coding, file before, every turn", "coding", 240, 1_500, "before", 1),
)
"""Turns of chats are named in parts of the limit."""


class Step(NamedTuple):
    """What is added at once, as one unit: a message of the user or the assistant, or, where there are ``results``, calls of a
    tool and their results."""

    role: Literal["user", "assistant"]
    text: str = ""
    results: tuple[str, ...] = ()


class Call(NamedTuple):
    """One call: what had been said, what is new (always kept), and the file as it is now."""

    history: Sequence[Step]
    newest: Step
    file: str


def calls_of(conversation: Conversation, number: int) -> Iterator[Call]:
    """The calls, from the first on. What is new in one is history in the next."""
    chance = random.Random(conversation.seed)
    words = _Words(chance)
    history: list[Step] = []
    lines = words.lines(conversation.file).splitlines(keepends=True)
    for index in range(number):
        if conversation.edited and index and index % conversation.edited == 0:
            for place in chance.sample(range(len(lines)), max(1, len(lines) // 10)):
                lines[place] = words.lines(10)
        history.extend(_before(conversation, index, words))
        newest = _newest(conversation, words)
        yield Call(list(history), newest, "".join(lines))
        history.append(newest)


def _before(conversation: Conversation, index: int, words: _Words) -> Iterator[Step]:
    """What came between the last call and this one: an answer; for an agent now and then another task."""
    if conversation.kind == "agent":
        if index % 10 == 0:
            yield Step("user", words.some(40))
    elif index:
        yield Step("assistant", words.some(0.7 * conversation.turn))


def _newest(conversation: Conversation, words: _Words) -> Step:
    if conversation.kind == "agent":
        sizes = (words.size(conversation.turn) for _ in range(conversation.at_once))
        return Step("assistant", results=tuple(words.lines(size) for size in sizes))
    return Step("user", words.some(0.3 * conversation.turn))


class _Words:
    """Texts of a size in tokens, near enough: words of prose, lines of code."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def size(self, mean: float) -> int:
        return max(1, round(mean * self._chance.uniform(*SPREAD)))

    def some(self, mean: float) -> str:
        words = _corpus()[0]
        return " ".join(self._chance.choice(words) for _ in range(self.size(mean)))

    def lines(self, tokens: int) -> str:
        lines = _corpus()[1]
        found: list[str] = []
        while tokens > 0:
            line = self._chance.choice(lines)
            found.append(line)
            tokens -= len(line) // 4 + 1
        return "".join(found)


@lru_cache(maxsize=1)
def _corpus() -> tuple[list[str], list[str]]:
    prose = (TEXTS / "earnest.txt").read_text("utf-8")
    words = sorted({word for word in prose.split() if word.isalpha() and word.islower()})
    code = (TEXTS / "argparse.py.txt").read_text("utf-8").splitlines(keepends=True)
    return words, [line for line in code if line.strip()]


# ------------------------------------------------------------------------------------------ the prompt of a call


def prompt_of(conversation: Conversation, call: Call, kept: Sequence[int] | None = None) -> Node:
    """The prompt of a call, with priorities that count from the start of the conversation.

    ``kept`` are the steps of the history that somebody else chose to keep, by their 0-based numbers; None leaves
    it to the renderer.
    """
    chosen = range(len(call.history)) if kept is None else kept
    steps = [
        scope(prel=turn(index) if kept is None else None, name=f"step {index}")[
            _messages(call.history[index], index)
        ]
        for index in chosen
    ]
    shown = [user_message["The file as it is now:\n", call.file]] if call.file else []
    return [
        system_message[INSTRUCTIONS],
        cache_break,
        _TOOLS if conversation.kind == "agent" else None,
        shown if conversation.place == "before" else None,
        steps,
        [cache_break, shown] if conversation.place == "after" else None,
        _messages(call.newest, len(call.history)),
        config(max_response_tokens=500),
    ]


def _messages(step: Step, index: int) -> list[Element]:
    if step.role == "user":
        return [user_message[step.text]]
    if not step.results:
        return [assistant_message[step.text]]
    ids = [f"call{index}_{number}" for number in range(len(step.results))]
    calls = [{"id": name, "name": "read", "arguments": {"what": f"part {name}"}} for name in ids]
    results = zip(ids, step.results, strict=True)
    return [
        assistant_message(tool_calls=calls),
        *(tool_message(tool_call_id=name)[text] for name, text in results),
    ]


INSTRUCTIONS = "You help with what you are asked. " + " ".join(
    f"{number}. Say what you know, say what you don't know, and ask before you change anything that was not asked for."
    for number in range(1, 13)
)
_TOOLS = [
    tool_definition(
        {"type": "object", "properties": {"what": {"type": "string", "description": "A name or a path."}}},
        name=name,
        description=f"{verb} what has this name, and tells what it found or what went wrong.",
    )
    for name, verb in (("read", "Reads"), ("search", "Searches for"), ("write", "Writes"), ("run", "Runs"))
]
