"""``priompt preview``."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from priompt_py.cli import faults
from priompt_py.cli.faults import Fault
from priompt_py.cli.files import STDIN
from priompt_py.cli.loading import load
from priompt_py.cli.options import plain_option, prompt_options, read_count, traceback_option
from priompt_py.cli.rendering import PromptOptions
from priompt_py.cli.streams import shown, write_screen

__all__ = ["preview"]

CLEAR = "\x1b[H\x1b[2J\x1b[3J"
"""Cursor to the corner, clear the screen, forget what was scrolled away."""


@click.command("preview", short_help="Show a prompt as a person wants to see it.")
@prompt_options
@click.option("--watch", is_flag=True, help="Show it again whenever a file that it is made from changes.")
@click.option("--lines", metavar="N", help="At most N lines of each message; 40 when not given.")
@click.option("--full", is_flag=True, help="All lines, also of what is left out.")
@plain_option
@traceback_option
def preview(lines: str | None, *, watch: bool, full: bool, plain: bool, **options: Any) -> None:
    """Show SOURCE rendered: messages in frames, coloured by priority, what was left out in grey with its priority and size,
    and below all the budget, the cutoff and the largest parts. SOURCE is as for render. No callbacks are fired.
    """
    if full and lines is not None:
        raise Fault("--full shows all lines: leave out --lines")
    most = None if full else 40 if lines is None else read_count("--lines", lines)
    asked = PromptOptions(**options)
    if not watch:
        write_screen(_drawn(asked, most, plain=plain))
        return
    if STDIN in (asked.source, asked.props):
        raise Fault("--watch needs files: standard input can be read only once")
    _watch(asked, most, plain=plain)


def _drawn(options: PromptOptions, lines: int | None, *, plain: bool) -> str:
    """The preview as text. Raises Fault."""
    from priompt_py.face.panels import Panel
    from priompt_py.preview.screen import screen_text

    loaded = load(options)
    rendered = loaded.render()
    with faults.prompt_code(loaded.name):
        report = rendered.report
    panel = Panel(report, lines=lines, out_lines=None if lines is None else 2, plain=plain)
    return screen_text(panel, sys.stdout, plain=plain)


def _watch(options: PromptOptions, lines: int | None, *, plain: bool) -> None:
    """Show the preview, and again at each change, until it is interrupted."""
    from priompt_py.preview.watch import Recorder, forget_modules, snapshot_of, wait_for_change

    recorder = Recorder()
    sys.dont_write_bytecode = (
        True  # two versions of a file within a second would look alike to Python's cache
    )
    clears = sys.stdout is not None and sys.stdout.isatty() and not plain
    known: set[str] = set()
    changed: list[str] = []
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            failed = False
            older = snapshot_of(known | _named(options))  # what changes while it is rendered has changed
            with recorder.recording():
                try:
                    text = _drawn(options, lines, plain=plain)
                except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, the next version may be right
                    failed = True
                    text = f"{faults.told(error)}\n"
            files = set(recorder.seen) | _named(options)
            # What failed may have stopped before it came to all files; one that it misses may appear beside the others.
            known = files | known | {str(Path(file).parent) for file in files} if failed else files
            before = {
                **snapshot_of(known),
                **{file: older[file] for file in known & older.keys()},
                **recorder.seen,
            }
            write_screen(f"{CLEAR if clears else ''}{text}{_status(changed, len(files), failed=failed)}\n")
            changed = wait_for_change(before, screen=_columns)
            forget_modules(recorder.modules)


def _columns() -> int:
    """The width of the terminal, in cells; 0 where there is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError, AttributeError):  # no terminal, no stream
        return 0


def _named(options: PromptOptions) -> set[str]:
    """The files that the options name."""
    file = options.source.rpartition(":")[0] if ".py:" in options.source else options.source
    named = {file} if Path(file).suffix else set[str]()
    if (
        options.props is not None
        and Path(options.props).suffix
        and not options.props.lstrip().startswith("{")
    ):
        named.add(options.props)
    return {str(Path(one).absolute()) for one in named}


def _status(changed: list[str], files: int, *, failed: bool) -> str:
    from priompt_py.face.visible import in_one_line

    named = [
        file for file in changed if not Path(file).is_dir()
    ] or changed  # a folder changes with what is in it
    why = f"{', '.join(in_one_line(shown(Path(file).name)) for file in named)} changed; " if changed else ""
    state = (
        "waiting for a change that mends it"
        if failed
        else f"watching {files} {'file' if files == 1 else 'files'}"
    )
    return f"-- {why}{state}; Ctrl+C ends --"
