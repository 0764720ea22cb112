"""The floor under every render: one bare visit of every node, and one tokenisation of the final prompt."""

from __future__ import annotations

from typing import Any

from bench.shapes import ENCODING
from priompt_py import Node, get_tokenizer

__all__ = ["floor", "tokenise", "visit"]


def visit(root: Node) -> None:
    """Visit every element and every text of a tree, with a loop that does nothing else.

    Of the loops that were tried this is among the quickest: over each element's children, the texts passed over in
    place; a stack of all nodes takes twice as long, a recursive generator more.
    """
    stack: list[Any] = [root]
    pop, push = stack.pop, stack.append
    while stack:
        for child in pop():
            if type(child) is not str:
                push(child.children)


def tokenise(text: str) -> int:
    """One tokenisation of a text, with the encoding that everything here is measured in."""
    return get_tokenizer(ENCODING).count(text)


def floor(root: Node, text: str) -> int:
    """Both, one after the other; ``text`` is the final prompt's. Gives its tokens."""
    visit(root)
    return tokenise(text)
