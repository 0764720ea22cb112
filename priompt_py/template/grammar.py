"""The grammars: where they are, and the parsers that lark makes of them, one each per process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["grammar_folder", "parser"]

_PACKAGE = Path(__file__).parents[1]


def grammar_folder() -> Path:
    """Where the grammars are: inside an installed package, else beside it in a checkout."""
    inside = _PACKAGE / "_grammar"
    return inside if inside.is_dir() else _PACKAGE.parent / "grammar"


@cache
def parser(name: str, start: str, transformer: Any = None) -> Lark:
    """The parser of a grammar file from a start rule; made at its first use, in 20 to 60 ms."""
    from lark import Lark

    return Lark(
        (grammar_folder() / f"{name}.lark").read_text("utf-8"),
        start=start,
        parser="lalr",
        lexer="contextual",
        maybe_placeholders=True,
        transformer=transformer,
    )
