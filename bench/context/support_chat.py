"""Draws what examples/support_chat.py sends at each limit: docs/support_chat.svg. Run: python -m bench.context.support_chat"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from bench.context.bars import svg
from priompt_py import Program, Rendered, compile_prompt

ROOT = Path(__file__).parents[2]
LIMITS = (2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000)
COLOURS = {  # on light pages, on dark ones
    "required": ("#5d6673", "#a3adb9"),
    "passages": ("#7a3fb0", "#c79bf0"),
    "receipt": ("#8a6d00", "#e0c04a"),
    "log": ("#b3420a", "#ff9a62"),
    "turns": ("#0b5fc4", "#6cb2ff"),
    "answer": ("#0f7a4a", "#5fd39a"),
}


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("support_chat", ROOT / "examples" / "support_chat.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tokens(rendered: Rendered) -> dict[str, int]:
    """The tokens of each part of a prompt. What is in none of them is required."""
    found = dict.fromkeys(COLOURS, 0)
    for one in rendered.decisions:
        if not one.included or one.label is None:
            continue
        name = re.search(r"first\[name=(\w+)\]", one.path)
        if one.label == "hits":
            found["passages"] = one.tokens
        elif name and name[1] in found and one.label in ("full", "preview", "placeholder"):
            found[name[1]] = one.tokens
        elif re.fullmatch(r"m\d+", one.label):
            found["turns"] += one.tokens
    found["answer"] = rendered.tokens_reserved
    found["required"] = rendered.token_count - sum(found.values()) + rendered.tokens_reserved
    return found


def rows(program: Program, module: ModuleType) -> list[tuple[str, dict[str, float]]]:
    drawn: list[tuple[str, dict[str, float]]] = []
    for limit in LIMITS:
        rendered = program.render(token_limit=limit)
        shares = {name: number / limit for name, number in tokens(rendered).items()}
        drawn.append((f"{limit:,}: log {module.forms(rendered)['log']}", shares))
    return drawn


def main() -> None:
    module = example()
    picture = svg(
        "A support chat of 400 turns and three files, by the limit in tokens",
        rows(compile_prompt(module.prompt()), module),
        COLOURS,
    )
    (ROOT / "docs" / "support_chat.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
