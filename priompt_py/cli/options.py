"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from priompt_py.cli.faults import Fault, near
from priompt_py.cli.streams import argument_text

__all__ = [
    "choose",
    "prompt_options",
    "read_limit",
    "render_options",
    "tokenizer_options",
    "traceback_option",
]

F = TypeVar("F", bound=Callable[..., Any])

_DIGITS = re.compile(r"[0-9][0-9_]*", re.ASCII)

traceback_option = click.option(
    "--traceback", is_flag=True, expose_value=False, help="Show where in the code an error was raised."
)

plain_option = click.option(
    "--plain", is_flag=True, help="No colours, and no signs beyond ASCII around the text."
)


def tokenizer_options(command: F) -> F:
    """``--tokenizer`` and ``--model``."""
    tokenizer = click.option(
        "--tokenizer",
        metavar="NAME",
        help="Count with this encoding; o200k_base when neither this nor --model is given.",
    )
    model = click.option(
        "--model",
        metavar="NAME",
        help="Count as for this model: its tokenizer, its costs of images and tools.",
    )
    return tokenizer(model(command))


def prompt_options(command: F) -> F:
    """``SOURCE`` and what makes a render of it: props, limit, tokenizer."""
    return click.argument("source", metavar="SOURCE")(render_options(command))


def render_options(command: F) -> F:
    """What makes a render of a source: props, limit, tokenizer."""
    for decorate in (
        click.option(
            "--last-message-incomplete",
            is_flag=True,
            help="The model goes on writing the last message of the chat.",
        ),
        tokenizer_options,
        click.option("--limit", metavar="N", help="The most tokens; the prompt's own limit when not given."),
        click.option(
            "--module",
            "modules",
            metavar="MODULE",
            multiple=True,
            help="Where SOURCE is an id: a module or .py file that registers prompts.",
        ),
        click.option(
            "--set",
            "settings",
            metavar="NAME=VALUE",
            multiple=True,
            help="One prop, a.b=v too; v is JSON, else text.",
        ),
        click.option(
            "--props",
            metavar="PROPS",
            help="Props: JSON that begins with {, a .json or .yaml file, the name of an example or dump, or - for JSON on "
            "standard input.",
        ),
    ):
        command = decorate(command)
    return command


def read_limit(option: str | None) -> int | None:
    """The value of ``--limit``, in tokens. Raises Fault."""
    return None if option is None else read_count("--limit", option, "tokens")


def read_count(option: str, value: str, what: str = "lines") -> int:
    """The value of an option that takes a whole number of something. Raises Fault."""
    if not _DIGITS.fullmatch(value):
        raise Fault(f"{option} needs a whole number of {what}, 0 or more, got {argument_text(value)!r}")
    try:
        return int(value)
    except ValueError:  # more digits than Python reads, or underscores in a wrong place
        raise Fault(f"{option} needs a whole number of {what}, 0 or more, got {value[:20]!r}") from None


def choose(option: str, value: str, choices: Sequence[str]) -> str:
    """``value`` if it is one of ``choices``. Raises Fault with the nearest ones."""
    if value in choices:
        return value
    value = argument_text(value)
    raise Fault(f"{option} needs one of {', '.join(choices)}, got {value!r}{near(value, choices)}")
