"""Text of prompts, made safe to show: whatever steers a terminal, or hides, is written out."""

from __future__ import annotations

import re

from priompt_py.model.elements import BASE_PRIORITY, Number

__all__ = ["fraction", "in_one_line", "priority_text", "tokens_text", "visible", "written_out"]

# C0 but tab and line feed, DEL, C1; a carriage return unless a line feed follows; marks and overrides of direction,
# which reorder what stands beside them; line separators; characters without a width, joiners too unless scripts or emoji
# are on both sides; tags (U+E0000 and on), in which text can hide.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]|\r(?!\n)|(?<![^\x00-\xff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\xff])"
)

_NEAR = 1_000_000


def visible(text: str) -> str:
    r"""``text`` with what a terminal would act upon, or nobody would see, written as ``\u001b``; CR LF is LF."""
    return _UNSAFE.sub(lambda found: _escape(found[0]), text).replace("\r\n", "\n")


def written_out(text: str) -> str:
    r"""``visible`` for what may be JSON: line ends are as they are, and beyond ``\uffff`` stand two halves."""
    return _UNSAFE.sub(lambda found: _halves(found[0]), text)


def in_one_line(name: str) -> str:
    r"""A label or path, ``visible`` and in one line: line feeds and tabs as ``\n`` and ``\t``. A name can be anybody's
    text too, and may not look like a line of ours."""
    return visible(name).replace("\n", "\\n").replace("\t", "\\t")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _halves(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def priority_text(priority: Number) -> str:
    """A priority for people: those near the base are told from there."""
    if priority >= BASE_PRIORITY:
        return "required"
    if priority >= BASE_PRIORITY - _NEAR:
        return f"base-{BASE_PRIORITY - priority:.15g}"
    return str(priority)


def tokens_text(tokens: int, *, is_estimate: bool = False) -> str:
    """``1 token``, ``1,200 tokens``, ``~40 tokens``."""
    return f"{'~' if is_estimate else ''}{tokens:,} {'token' if tokens == 1 else 'tokens'}"


def fraction(part: int, whole: int, cells: int) -> int:
    """How many of ``cells`` stand for a part of a whole: rounded, but at least one for what isn't nothing, and not all
    of them for what isn't all."""
    if part <= 0 or whole <= 0 or cells <= 0:
        return 0
    return min(
        max(1, (2 * part * cells + whole) // (2 * whole)), cells if part >= whole else max(1, cells - 1)
    )
