from __future__ import annotations

from typing import Any

import pytest

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError, TokenizerError
from priompt_py.tokens.limits import LimitChoice, limit_for


@pytest.mark.parametrize(
    ("arguments", "limit", "reason"),
    [
        # the smaller of what was asked for and what the window leaves
        (
            {"window": 100, "answer": 30, "limits": [("call", None), ("config", 60), ("--limit", None)]},
            60,
            "config (60)",
        ),
        ({"window": 100, "answer": 30, "limits": [("config", 90)]}, 70, "window (100) - answer (30)"),
        ({"window": 100}, 100, "window (100)"),
        ({"window": 100, "answer": 100}, 0, "window (100) - answer (100)"),
        ({"limits": [None, 9, 8]}, 8, "limit 3 (8)"),
        ({"limits": [("a", 5), ("b", 5)], "window": 5}, 5, "a (5)"),
        ({"limits": [0], "answer": 9}, 0, "limit 1 (0)"),
        ({"model": "gpt-4o", "answer": 1_000}, 127_000, "window of gpt-4o (128000) - answer (1000)"),
        ({"model": "gpt-4o-mini-2024-07-18"}, 128_000, "window of gpt-4o-mini-2024-07-18 (128000)"),
        ({"model": "gpt-4o", "window": 500, "answer": 100}, 400, "window (500) - answer (100)"),
        ({"model": "gpt-5", "answer": 1_000}, 272_000, "longest prompt of gpt-5 (272000)"),
        ({"model": "gpt-6-sol", "limits": [7]}, 7, "limit 1 (7)"),
    ],
)
def test_the_least_decides_and_says_so(arguments: dict[str, Any], limit: int, reason: str) -> None:
    assert limit_for(**arguments) == LimitChoice(limit, reason)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ArgumentValueError, "a prompt needs a limit: no model, no window, and no limit was given"),
        (
            {"answer": 50, "limits": [None]},
            ArgumentValueError,
            "a prompt needs a limit: no model, no window, and no",
        ),
        (
            {"model": "gpt-6-sol"},
            ArgumentValueError,
            "a prompt needs a limit: the window of gpt-6-sol is not known",
        ),
        (
            {"window": 100, "answer": 101},
            ArgumentValueError,
            "no room for a prompt: answer=101 is over the window of 100",
        ),
        (
            {"model": "gpt-4", "answer": 8_193},
            ArgumentValueError,
            "gpt-4 writes at most 8192 tokens, answer=8193 is more",
        ),
        ({"limits": [-1]}, ArgumentValueError, "limit 1 is a number of tokens of 0 or more, got -1"),
        ({"window": -5}, ArgumentValueError, "window is a number of tokens of 0 or more, got -5"),
        (
            {"limits": [("config", True)]},
            ArgumentTypeError,
            "config is a number of tokens (int), got True (bool)",
        ),
        ({"answer": 1.5}, ArgumentTypeError, "answer is a number of tokens (int), got 1.5 (float)"),
        ({"window": "8k"}, ArgumentTypeError, "window is a number of tokens (int), got '8k' (str)"),
        ({"model": "gpt-9"}, TokenizerError, "the model 'gpt-9' is not in the table"),
    ],
)
def test_no_limit_is_made_up(arguments: dict[str, Any], error: type[PromptError], message: str) -> None:
    with pytest.raises(error) as caught:
        limit_for(**arguments)
    assert str(caught.value).startswith(message)
