"""What a preview costs where there is much to show."""

from __future__ import annotations

import time

from priompt_py import render, scope, tool_definition, user_message
from priompt_py.face.drawing import Look, draw
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()


def test_each_message_costs_the_same_in_a_long_chat() -> None:
    """Not more for each priority that there is elsewhere."""

    def seconds(count: int) -> float:
        tree = [user_message[scope(p=2 * at)["a"], scope(p=2 * at + 1)["b"]] for at in range(count)]
        report = render(tree, token_limit=10**6, tokenizer=CHARS).report
        start = time.process_time()
        assert sum(1 for _ in draw(report, Look())) > 3 * count
        return time.process_time() - start

    assert min(seconds(2_000) / seconds(250) for _ in range(3)) < 20


def test_a_kind_is_named_once() -> None:
    tool = tool_definition(name="t", description="", parameters={}, p=1)
    report = render(["x", tool], token_limit=1, tokenizer=CHARS).report
    lines = ["".join(text for text, _ in line) for line in draw(report, Look(plain=True))]
    assert [line for line in lines if "tool" in line] == [
        "- 1:tool_definition, priority 1, 9 tokens, below the cutoff"
    ]
