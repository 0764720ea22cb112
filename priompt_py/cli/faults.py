"""What goes wrong on the command line: one place that turns exceptions into lines and exit codes.

Exit codes: 0 done, 1 the prompt does not fit, 2 wrong usage (also files that can't be read or written), 3 the
prompt's own code or tree failed, 70 a fault of this package, 130 interrupted. A :class:`Fault` is printed as ``PLACE: message``, its notes
below it, indented.
"""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from priompt_py.cli.streams import made_visible, prints_to_stderr, shown, warn
from priompt_py.errors import PromptError, PromptTooLong, SourceError, TemplateError

if TYPE_CHECKING:
    from click import UsageError

__all__ = [
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "OUR_FAULT",
    "TOO_LONG",
    "USAGE",
    "Fault",
    "near",
    "no_such_option",
    "prompt_code",
    "raise_worst",
    "report",
    "template_fault",
    "told",
]

DONE = 0
TOO_LONG = 1
USAGE = 2
FAILED = 3
OUR_FAULT = 70
INTERRUPTED = 130


class Fault(SourceError):
    """A message for the user with an exit code.

    ``place`` is where to look, ``FILE:LINE:COL`` (1-based), a file or a source; ``notes`` are lines below the message.
    """

    def __init__(
        self, message: str, *, place: str | None = None, code: int = USAGE, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.code = code
        self.notes = tuple(notes)

    def __str__(self) -> str:
        first, *rest = [
            *self.message.split("\n"),
            *(line for note in self.notes for line in note.split("\n")),
        ]
        return "\n  ".join([f"{self.place or 'priompt'}: {first}", *rest])


def report(error: BaseException, *, with_traceback: bool) -> int:
    """Print what is to be said of ``error`` to standard error, and give the exit code."""
    fault = _as_fault(error)
    if with_traceback or fault.code == OUR_FAULT:
        traceback.print_exception(error.__cause__ if isinstance(error, Fault) and error.__cause__ else error)
    warn(str(fault))
    return fault.code


def told(error: BaseException) -> str:
    """What is said of ``error`` to the user."""
    return made_visible(str(_as_fault(error)))


def raise_worst(failed: Sequence[Fault]) -> None:
    """After work on several files: say of each fault what it is, and raise the one with the highest exit code."""
    if failed:
        worst = max(failed, key=lambda fault: fault.code)
        for fault in failed:
            if fault is not worst:
                warn(str(fault))
        raise worst


def _as_fault(error: BaseException) -> Fault:
    import click

    if isinstance(error, Fault):
        return error
    if isinstance(error, click.UsageError):
        return _usage_fault(error)
    if isinstance(error, click.ClickException):
        return Fault(error.format_message())
    if isinstance(error, TemplateError):
        return template_fault(error)
    if isinstance(error, PromptError):  # a tokenizer or an option that the library refuses
        return Fault(str(error))
    if isinstance(error, OSError):  # the prompt's own errors are faults already: this is a standard stream
        return Fault(f"can't read or write: {error.strerror or error}")
    return Fault("this is a fault of priompt itself; please report it with the lines above", code=OUR_FAULT)


def _usage_fault(error: UsageError) -> Fault:
    """A usage error in our words, with the command whose help tells more."""
    import click

    message = error.format_message().strip().rstrip(".")
    if isinstance(error, click.MissingParameter) and error.param is not None:
        message = f"needs {error.param.human_readable_name}"
    elif isinstance(error, click.NoSuchOption):
        message = no_such_option(error.option_name, error.possibilities or ())
    command = error.ctx.command_path if error.ctx is not None else "priompt"
    return Fault(f"{message[:1].lower()}{message[1:]} ({command} --help tells more)", place=command)


def no_such_option(name: str, names: Iterable[str]) -> str:
    """The message about an option that isn't there."""
    return f"no option {name}{near(name, names)}"


def near(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> str:
    """``"; did you mean X?"`` with the names that are most like ``name``, or nothing."""
    import difflib

    found = difflib.get_close_matches(name, list(names), n=3, cutoff=cutoff)
    return f"; did you mean {' or '.join(found)}?" if found else ""


# ------------------------------------------------------------------------------------------ the prompt's own code


@contextlib.contextmanager
def prompt_code(name: str, *, passing: tuple[type[BaseException], ...] = ()) -> Generator[None]:
    """Run the code of the prompt that is called ``name``: what it prints goes to standard error, what it raises
    becomes a :class:`Fault`, unless it is among ``passing``."""
    try:
        with prints_to_stderr():
            yield
    except (KeyboardInterrupt, Fault):
        raise
    except BaseException as error:
        if isinstance(error, passing):
            raise
        if isinstance(error, PromptTooLong):
            raise Fault(str(error), place=name, code=TOO_LONG) from error
        raise _failure(error, name) from error


def _failure(error: BaseException, name: str, *, in_group: bool = False) -> Fault:
    """The fault of prompt code that raised ``error``: its type, message, notes, and the user's innermost line."""
    from priompt_py.preview.failures import type_name

    place = _place(error)
    notes: list[str] = list(getattr(error, "__notes__", ()))
    if isinstance(error, BaseExceptionGroup):  # of callbacks that failed
        errors = cast("BaseExceptionGroup[BaseException]", error).exceptions
        notes += [str(_failure(one, place or name, in_group=True)) for one in errors]
        message = f"{error.message} ({len(errors)} {'error' if len(errors) == 1 else 'errors'})"
    elif isinstance(error, SystemExit):
        message = f"the prompt's code called sys.exit({error.code!r})"
    elif isinstance(error, TemplateError):
        return template_fault(error, notes, place=name)
    elif isinstance(error, PromptError):
        message = str(error)
    else:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        message = f"{type_name(error)}: {text}" if text else type_name(error)
        if place is None and not in_group:
            notes.append("no line of the prompt's own code was met: --traceback shows where it was raised")
    return Fault(message, place=place or name, code=FAILED, notes=notes)


def template_fault(error: TemplateError, notes: Sequence[str] = (), *, place: str | None = None) -> Fault:
    """The fault of a template: its place (or the given one), the line with a caret, the templates that led there."""
    place = place if error.file is None else shown(error.file)
    if error.line is not None:
        place = f"{place}:{error.line}:{error.column}"
    below = [line[2:] for line in str(error).split("\n")[1:]]
    return Fault(error.message, place=place, code=FAILED, notes=[*below, *notes])


def _place(error: BaseException) -> str | None:
    """``FILE:LINE`` of the innermost frame that is not ours and not Python's, or of a syntax error."""
    from priompt_py.preview.failures import place_of

    place = place_of(error)
    if place is None:
        return None
    column = f":{place.column}" if place.column else ""
    return f"{shown_path(place.file)}:{place.line}{column}"


def shown_path(path: str) -> str:
    """A path as users write it: from the working folder where it lies below it."""
    with contextlib.suppress(ValueError, OSError):  # another drive; a working folder that is gone
        relative = os.path.relpath(path)
        if not relative.startswith(os.pardir):
            path = relative
    return shown(path)


def in_traceback_mode(arguments: Sequence[str]) -> bool:
    """Whether ``--traceback`` is among the options, also where they can't be parsed."""
    options = list(arguments)
    if "--" in options:
        options = options[: options.index("--")]
    return "--traceback" in options
