"""Requests have the same bytes in every process, whatever the order of its sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINT = """
import json
from bench.prefix.conversations import CONVERSATIONS, calls_of, prompt_of
from priompt_py import Memory, config, render, tool_definition, user_message

def find(words: set[str], places: dict[str, int], most: int = 3) -> str:
    '''Searches for words.'''
    return ""

(*_, call) = calls_of(CONVERSATIONS[5], 40)
for more in ([], [tool_definition(find), config(extra={"b": 1, "a": {"d": 2, "c": 3}}, stop=["x", "y"])]):
    rendered = render([prompt_of(CONVERSATIONS[5], call), more], token_limit=4_000, previous=Memory())
    for made in (
        rendered.to_json(),
        rendered.to_openai(cache_marks=True),
        rendered.to_anthropic(cache="auto"),
        rendered.memory.to_json(),
    ):
        print(json.dumps(made))
"""


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_order_of_sets() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    (bytes_,) = printed
    assert bytes_.count(b"\n") == 8
    assert b"cache_control" in bytes_
