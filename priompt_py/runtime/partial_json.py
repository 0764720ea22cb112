"""A JSON object as far as it has come: read piece by piece, each character once."""

from __future__ import annotations

import json
import re
from typing import Any, TypeGuard

__all__ = ["PartialJson"]

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\]+')
_WORD = re.compile(r"[-+.0-9A-Za-z]+")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_MOST_DEEP = 200  # as JSON text elsewhere in this package

_MISSING: Any = object()


class PartialJson:
    """Reads an object that arrives in pieces.

    What is open counts as far as it has come: texts without half an escape, lists and objects with what is in them.
    A number, ``true``, ``false`` or ``null`` counts when something after it shows that it is whole, a key when its
    value has begun. What is no JSON stops the reading: the value stays what it was.
    """

    def __init__(self) -> None:
        self.is_broken = False
        self._root: Any = _MISSING
        self._stack: list[Any] = []
        self._keys: list[str | None] = []  # of the open objects: the key whose value is to come
        self._expects = "value"  # value, first (value or end), key, first_key, colon, comma, end
        self._text: str | None = None  # of the open string
        self._text_is_key = False
        self._rest = ""

    def feed(self, text: str) -> None:
        """Take more of the text."""
        if self.is_broken:
            return
        self._rest += text
        at = 0
        while at < len(self._rest):
            after = self._read_text(at) if self._text is not None else self._read_mark(at)
            if after is None:
                break
            at = after
        self._rest = self._rest[at:]

    @property
    def value(self) -> dict[str, Any] | None:
        """A copy of what has come; None before the object has begun."""
        if self._root is _MISSING:
            return None
        open_text = self._text if self._text is not None and not self._text_is_key else None
        copied: dict[str, Any] = _copy(self._root, self._stack, self._keys, open_text)
        return copied

    # -- texts ------------------------------------------------------------------------------------

    def _read_text(self, at: int) -> int | None:
        """Read on in a string; where the reading stops, None where more has to come first."""
        assert self._text is not None
        rest = self._rest
        if found := _PLAIN.match(rest, at):
            self._text += found.group()
            return found.end()
        if rest[at] == '"':
            text, self._text = self._text, None
            if self._text_is_key:
                self._keys[-1], self._expects = text, "colon"
            else:
                self._put(text)
            return at + 1
        if at + 1 == len(rest):
            return None
        if rest[at + 1] != "u":
            if rest[at + 1] not in _ESCAPES:
                return self._break()
            self._text += _ESCAPES[rest[at + 1]]
            return at + 2
        return self._read_unicode(at)

    def _read_unicode(self, at: int) -> int | None:
        assert self._text is not None
        first = _unit(self._rest, at)
        if first is None:
            return None if len(self._rest) < at + 6 else self._break()
        if 0xD800 <= first < 0xDC00:  # its other half may come yet
            follows = self._rest[at + 6 : at + 8]
            if len(follows) < 2 and "\\u".startswith(follows):
                return None
            if follows == "\\u":
                if len(self._rest) < at + 12:
                    return None
                second = _unit(self._rest, at + 6)
                if second is not None and 0xDC00 <= second < 0xE000:
                    self._text += chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
                    return at + 12
        self._text += chr(first)
        return at + 6

    # -- marks, numbers and words -----------------------------------------------------------------

    def _read_mark(self, at: int) -> int | None:
        space = _SPACE.match(self._rest, at)
        assert space is not None
        if space.end() > at:
            return space.end()
        mark = self._rest[at]
        if mark == '"':
            return self._open_text(at)
        if mark in "{[":
            return self._open(mark, at)
        if mark in "}]":
            return self._close(mark, at)
        if (mark, self._expects) == (":", "colon"):
            self._expects = "value"
        elif (mark, self._expects) == (",", "comma"):
            self._expects = "key" if isinstance(self._stack[-1], dict) else "value"
        else:
            return self._word(at)
        return at + 1

    def _open_text(self, at: int) -> int | None:
        self._text_is_key = self._expects in ("key", "first_key")
        if not self._stack or not (self._text_is_key or self._expects in ("value", "first")):
            return self._break()
        self._text = ""
        return at + 1

    def _open(self, mark: str, at: int) -> int | None:
        top = not self._stack
        if self._expects not in ("value", "first") or (top and mark == "[") or len(self._stack) >= _MOST_DEEP:
            return self._break()
        opened: Any = {} if mark == "{" else []
        if top:
            self._root = opened
        else:
            self._put(opened)
        self._stack.append(opened)
        self._keys.append(None)
        self._expects = "first_key" if mark == "{" else "first"
        return at + 1

    def _close(self, mark: str, at: int) -> int | None:
        closes_object = mark == "}"
        empty = "first_key" if closes_object else "first"
        fits = bool(self._stack) and _is_list(self._stack[-1]) is not closes_object
        if not fits or self._expects not in ("comma", empty):
            return self._break()
        self._stack.pop()
        self._keys.pop()
        self._expects = "comma" if self._stack else "end"
        return at + 1

    def _word(self, at: int) -> int | None:
        """A number, or true, false, null."""
        found = _WORD.match(self._rest, at)
        if found is None or not self._stack or self._expects not in ("value", "first"):
            return self._break()
        if found.end() == len(self._rest):
            return None
        try:
            self._put(json.loads(found.group(), parse_constant=_refuse))
        except ValueError:
            return self._break()
        return found.end()

    def _put(self, value: Any) -> None:
        holder: Any = self._stack[-1]
        if _is_list(holder):
            holder.append(value)
        else:
            holder[self._keys[-1]] = value
        self._expects = "comma"

    def _break(self) -> int | None:
        self.is_broken = True
        return None


def _unit(text: str, at: int) -> int | None:
    """The UTF-16 unit of the escape at a place, None where it is cut or none."""
    digits = text[at + 2 : at + 6]
    return int(digits, 16) if re.fullmatch("[0-9A-Fa-f]{4}", digits) else None


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _refuse(name: str) -> None:
    raise ValueError(name)


def _copy(root: Any, stack: list[Any], keys: list[str | None], open_text: str | None) -> Any:
    """The tree copied, with the text that is still open at its place."""
    copies: dict[int, Any] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, dict):
            made: Any = {key: copy(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        elif isinstance(value, list):
            made = [copy(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        else:
            return value
        copies[id(value)] = made  # pyright: ignore[reportUnknownArgumentType]
        return made

    copied = copy(root)
    if open_text is not None:
        holder: Any = copies[id(stack[-1])]
        if _is_list(holder):
            holder.append(open_text)
        else:
            holder[keys[-1]] = open_text
    return copied
