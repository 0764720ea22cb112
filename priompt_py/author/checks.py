"""Checks of arguments, made when an element is built: each error says the name and the value."""

from __future__ import annotations

from typing import Any

from priompt_py.author.children import clean_text, type_name
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Number
from priompt_py.model.limits import relative_limit
from priompt_py.model.values import short_repr

__all__ = [
    "callable_or_none",
    "check_priority",
    "choice",
    "got",
    "limit_spec",
    "one_of_priorities",
    "text",
    "text_or_none",
    "truth",
    "whole_number",
    "wrong_type",
    "wrong_value",
]


def wrong_type(argument: str, message: str) -> ArgumentTypeError:
    """An error that knows which argument it is about, as a path: ``tool_calls[0].name``."""
    error = ArgumentTypeError(message)
    error.argument = argument
    return error


def wrong_value(argument: str, message: str) -> ArgumentValueError:
    """The same for a value of the right type."""
    error = ArgumentValueError(message)
    error.argument = argument
    return error


def got(value: object) -> str:
    """``'high' (str)``, the tail of a message: value and type, kept short."""
    return f"{short_repr(value)} ({type_name(value)})"


def check_priority(tag: str, name: str, value: object) -> Number:
    """``value`` as an exact finite int or float; refused by name otherwise.

    Subclasses of int and float are refused too (numpy, IntEnum, bool): their arithmetic is theirs.
    """
    if type(value) is int:
        return value
    if type(value) is float:
        if value - value == 0.0:  # false for NaN and both infinities
            return value
        raise wrong_value(name, f"{tag}() needs a finite number for {name}, got {name}={got(value)}")
    raise wrong_type(name, f"{tag}() needs a number for {name}, got {name}={got(value)}")


def one_of_priorities(tag: str, p: Number | None, prel: Number | None) -> None:
    """Check ``p`` and ``prel``, of which at most one may be given."""
    if p is not None:
        check_priority(tag, "p", p)
        if prel is not None:
            raise ArgumentValueError(
                f"{tag}() takes p or prel, not both, got p={short_repr(p)} and prel={short_repr(prel)}"
            )
    elif prel is not None:
        check_priority(tag, "prel", prel)


def text(tag: str, name: str, value: object) -> str:
    """``value`` as clean text."""
    if isinstance(value, str):
        return clean_text(value)
    raise wrong_type(name, f"{tag}() needs text for {name}, got {name}={got(value)}")


def text_or_none(tag: str, name: str, value: object) -> str | None:
    """``value`` as clean text, or None."""
    return None if value is None else text(tag, name, value)


def truth(tag: str, name: str, value: object) -> bool:
    """``value`` if it is True or False."""
    if isinstance(value, bool):
        return value
    raise wrong_type(name, f"{tag}() needs True or False for {name}, got {name}={got(value)}")


def callable_or_none(tag: str, name: str, value: object) -> Any:
    """``value`` if it is callable or None."""
    if value is None or callable(value):
        return value
    raise wrong_type(name, f"{tag}() needs a function for {name}, got {name}={got(value)}")


def whole_number(tag: str, name: str, value: object, *, least: int = 0) -> int:
    """``value`` as an int of at least ``least``."""
    if type(value) is not int:
        raise wrong_type(name, f"{tag}() needs a whole number for {name}, got {name}={got(value)}")
    if value < least:
        raise wrong_value(name, f"{tag}() needs {name} >= {least}, got {name}={short_repr(value)}")
    return value


def choice(tag: str, name: str, value: object, choices: tuple[str, ...]) -> Any:
    """``value`` if it is one of ``choices``."""
    if isinstance(value, str):
        for one in choices:
            if value == one:
                return one
        raise wrong_value(
            name, f"{tag}() needs {name} to be one of {', '.join(choices)}, got {name}={got(value)}"
        )
    raise wrong_type(name, f"{tag}() needs text for {name}, got {name}={got(value)}")


_LIMITS = "a whole number, 'N%', 'N% + M' or 'N% - M' for token_limit"


def limit_spec(tag: str, value: object) -> int | str:
    """``value`` as the limit of an isolate or max: an int >= 0, ``"N%"``, ``"N% + M"`` or ``"N% - M"``."""
    if type(value) is int:
        return whole_number(tag, "token_limit", value)
    if not isinstance(value, str):
        raise wrong_type("token_limit", f"{tag}() needs {_LIMITS}, got token_limit={got(value)}")
    try:
        known = relative_limit(value) is not None
    except ValueError:  # more digits than Python reads
        known = False
    if not known:
        raise wrong_value("token_limit", f"{tag}() needs {_LIMITS}, got token_limit={got(value)}")
    return clean_text(value)
