"""Prompt Poet, for what is flat. Run in its own environment: ``-m bench.peers.poet VOCABULARY``.

A part for each line or message, cut by truncation priority. It counts each part by itself and sums up. It strips
parts: the spaces before a line are written as its space marks, as its manual says.
"""

from __future__ import annotations

import importlib
import logging
import sys
from pathlib import Path
from typing import Any

from bench.peers.protocol import Answer, load_tiktoken, timed

TEMPLATE = """\
{% for role, text in parts %}
- name: part
  role: {{ role }}
  truncation_priority: {{ parts | length - loop.index0 }}
  content: |
    {{ escape_special_characters(text) }}
{% endfor %}
"""
SPACE = "<|space|>"


def main(vocabulary: Path) -> None:
    """Serve rounds. What is called building here is making the template's data into parts."""
    load_tiktoken(vocabulary)
    poet: Any = importlib.import_module("prompt_poet")  # only there in the peer's environment
    logging.disable(logging.WARNING)

    def build(data: Answer) -> Any:
        parts = data.get("parts")
        if parts is None:
            given = [("user", text) for text in data["lines"]] or data["messages"]
            parts = data["parts"] = [(role, marked(text)) for role, text in given]
        return poet.Prompt(template_data={"parts": parts}, raw_template=TEMPLATE, token_limit=data["limit"])

    def render(prompt: Any, _: Answer) -> tuple[int, Any, str]:
        prompt.tokenize()
        prompt.truncate(truncation_step=1)
        return len(prompt.tokens), None, "".join(part.content for part in prompt.parts)

    timed(build, render)


def marked(text: str) -> str:
    """A text with the spaces at its beginning as marks."""
    rest = text.lstrip(" ")
    return SPACE * (len(text) - len(rest)) + rest


if __name__ == "__main__":
    main(Path(sys.argv[1]))
