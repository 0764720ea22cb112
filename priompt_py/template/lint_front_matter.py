"""What is wrong with a template's front matter that only shows when it is used, or that isn't met as such."""

from __future__ import annotations

import re
from typing import Protocol

from priompt_py.errors import TokenizerError
from priompt_py.template.front_matter import KEYS, read_as_front_matter
from priompt_py.template.parse import ParsedTemplate
from priompt_py.template.syntax import Comment, Text
from priompt_py.tokens.tokenizer import get_tokenizer

__all__ = ["check_front_matter"]


class Note(Protocol):
    """Takes what is found: the offset, the message."""

    def __call__(self, at: int, message: str, *, is_error: bool = True) -> None: ...


def check_front_matter(parsed: ParsedTemplate, note: Note) -> None:
    """Note a tokenizer that isn't there, and front matter that stands too late."""
    front = parsed.front_matter
    if front.tokenizer is not None:
        try:
            get_tokenizer(front.tokenizer)
        except TokenizerError as error:
            found = re.search(r"^[\"']?tokenizer[\"']?[ \t]*:", front.text, re.MULTILINE)
            note(found.start() if found else 0, f"the tokenizer of the front matter: {error}")
    late = _late(parsed)
    if late is not None:
        note(
            late,
            "front matter begins in the first line of a template: nothing may stand before this ---",
            is_error=False,
        )


_BEGINS = re.compile(
    rf"\s*^(?P<mark>---)[ \t]*\n(?:[ \t]*\n)*[\"']?(?:{'|'.join(KEYS)})[\"']?[ \t]*:", re.MULTILINE
)


def _late(parsed: ParsedTemplate) -> int | None:
    """Where something like front matter stands behind empty lines or comments."""
    if read_as_front_matter(parsed.source.text):
        return None
    for node in parsed.nodes:
        if isinstance(node, Text) and not node.value.isspace():
            found = _BEGINS.match(node.value)
            return None if found is None else node.start + found.start("mark")
        if not isinstance(node, (Text, Comment)):
            return None
    return None
