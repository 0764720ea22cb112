"""What the server says: JSON, and errors in one form.

``{"error": {"kind", "message", "place", "notes", "traceback"}}``: the place is ``FILE:LINE`` of a prompt's own code.
"""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError, SourceError, TemplateError
from priompt_py.model.elements import Number

__all__ = ["Answer", "Refusal", "as_json", "failure", "json_bytes", "number"]

Answer = tuple[int, bytes]
"""A status of HTTP, and a body of JSON."""

_SAFE = 1 << 53  # JavaScript's numbers are exact up to here
_MOST_TRACE = 20_000  # characters of a traceback
_MOST_FRAMES = 60
_MOST_MESSAGE = (
    5_000  # characters of a message, a place or a note: anybody's errors, and names that were asked for
)
_MOST_NOTES = 100
_OURS = Path(__file__).parents[1]
_MOST_REPR = 2_000  # characters of a value that has no JSON


class Refusal(Exception):
    """A request that is not carried out. ``kind`` is a word for programs, the message a sentence for people."""

    def __init__(self, status: int, kind: str, message: str, *, place: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.place = place

    def answer(self) -> Answer:
        """What is sent."""
        return self.status, _error(self.kind, str(self), place=self.place)


def failure(error: BaseException, *, printed: str = "") -> Answer:
    """What is sent of a prompt's code, props or template that failed; 422."""
    if isinstance(error, Refusal):
        return error.answer()
    return 422, _error("prompt", *_told(error), traceback_of=error, printed=printed)


def _error(
    kind: str,
    message: str,
    place: str | None = None,
    notes: Sequence[str] = (),
    *,
    traceback_of: BaseException | None = None,
    printed: str = "",
) -> bytes:
    told: dict[str, Any] = {
        "kind": kind,
        "message": _clipped(message),
        "place": None if place is None else _clipped(place),
        "notes": [_clipped(note) for note in notes[:_MOST_NOTES]],
        "traceback": None,
    }
    if traceback_of is not None:
        told["traceback"] = _trace(traceback_of)
    if printed:
        told["printed"] = printed
    return json_bytes({"error": told})


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_MESSAGE else f"{text[:_MOST_MESSAGE]}…"


def _trace(error: BaseException) -> str | None:
    """The traceback from the first line that isn't ours; None where there is none."""
    if isinstance(error, SourceError):  # the command line's: what was raised is its cause
        if error.__cause__ is None:
            return None
        error = error.__cause__
    shown = traceback.TracebackException.from_exception(error, limit=-_MOST_FRAMES)
    theirs = [n for n, frame in enumerate(shown.stack) if not Path(frame.filename).is_relative_to(_OURS)]
    if not theirs and not isinstance(error, SyntaxError):
        return None
    del shown.stack[: theirs[0] if theirs else len(shown.stack)]
    return "".join(shown.format())[-_MOST_TRACE:]


def _told(error: BaseException) -> tuple[str, str | None, list[str]]:
    """Message, place and notes of an error. Those of the command line have all three."""
    notes: list[str] = list(getattr(error, "__notes__", ()))
    if isinstance(error, SourceError) and hasattr(error, "place"):
        own: Sequence[str] = getattr(error, "notes", ())
        place: str | None = getattr(error, "place", None)
        return str(getattr(error, "message", error)), place, [*own, *notes]
    if isinstance(error, TemplateError):
        first, *rest = str(error).split("\n")
        place = error.file
        if place is not None and error.line is not None:
            place = f"{place}:{error.line}:{error.column}"
        return error.message, place, [line[2:] for line in rest] + notes if first else notes
    if isinstance(error, PromptError) and not isinstance(error, (ArgumentTypeError, ArgumentValueError)):
        return str(error), None, notes
    from priompt_py.preview.failures import place_of, type_name

    found = place_of(error)
    place = None if found is None else f"{found.file}:{found.line}"
    if isinstance(error, PromptError):
        return str(error), place, notes
    if isinstance(error, SystemExit):
        return f"the prompt's code called sys.exit({error.code!r})", place, notes
    inner: Sequence[BaseException] = getattr(error, "exceptions", ())  # of a group
    notes += [_told(one)[0] for one in inner]
    text = (error.msg if isinstance(error, SyntaxError) else None) or str(error)
    name = type_name(error)
    return (f"{name}: {text}" if text else name), place, notes


# ------------------------------------------------------------------------------------------ values


def json_bytes(value: Any) -> bytes:
    """A value as JSON in UTF-8; halves of surrogates, which have none, are written out."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def number(value: Number) -> int | float | str | None:
    """A priority as JSON: whole numbers that JavaScript would round as text, what is infinite as None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, int) and abs(value) > _SAFE else value


def as_json(value: Any) -> dict[str, Any]:
    """``{"json": value}`` where a value is JSON as it stands, else ``{"repr": text}``."""
    try:
        if json.loads(json.dumps(value, allow_nan=False)) == value:
            return {"json": value}
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        shown = repr(value)
    except Exception as error:  # noqa: BLE001 - anybody's repr
        shown = f"<{type(value).__name__}, whose repr fails: {type(error).__name__}>"
    return {"repr": shown if len(shown) <= _MOST_REPR else f"{shown[:_MOST_REPR]}…"}
