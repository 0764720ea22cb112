"""Prompt Poet's step, by the real package. Run in its own environment: ``-m bench.prefix.poet``.

A request names parts with their tokens, limit and step; the answer is the names of the parts that were kept. It decides by
the tokens of parts alone, so their texts stay with us: its encoder is one that knows what each part costs.
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
from typing import Any

TEMPLATE = """\
{% for name, priority in parts %}
- name: {{ name }}
  role: user
  truncation_priority: {{ priority }}
  content: {{ name }}
{% endfor %}
"""


def main() -> None:
    """Serve until standard input ends."""
    poet: Any = importlib.import_module("prompt_poet")  # only there in its environment
    logging.disable(logging.WARNING)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        try:
            answer: dict[str, Any] = {"kept": kept(poet, asked)}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


def kept(poet: Any, asked: dict[str, Any]) -> list[str]:
    """The names of the parts that are left. ``parts`` are name, tokens, and the priority of truncation (0: never)."""
    tokens = {name: size for name, size, _ in asked["parts"]}

    def encode(content: str) -> list[int]:
        return [0] * tokens[content.strip()]

    prompt = poet.Prompt(
        template_data={"parts": [(name, priority) for name, _, priority in asked["parts"]]},
        raw_template=TEMPLATE,
        token_limit=asked["limit"],
        encode_func=encode,
    )
    prompt.tokenize()
    prompt.truncate(truncation_step=asked["step"])
    return [part.name for part in prompt.parts]


if __name__ == "__main__":
    main()
