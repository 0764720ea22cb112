"""``priompt explain``."""

from __future__ import annotations

import sys
from typing import Any

import click

from priompt_py.cli.faults import Fault
from priompt_py.cli.loading import load
from priompt_py.cli.options import plain_option, prompt_options, traceback_option
from priompt_py.cli.progress import progress_bar
from priompt_py.cli.rendering import PromptOptions
from priompt_py.cli.streams import argument_text, write_screen
from priompt_py.errors import ArgumentValueError

__all__ = ["explain"]


@click.command("explain", short_help="Show what is in and out, and why.")
@prompt_options
@click.option("--why", metavar="NAME", help="Only this label or path: why, and at which limits it is in.")
@plain_option
@traceback_option
def explain(why: str | None, *, plain: bool, **options: Any) -> None:
    """Show for each element of SOURCE its priority, whether it is in, its tokens, and what the whole prompt costs when its
    level is the cutoff. SOURCE is as for render.

    With --why: whether the elements with this label or path are in, the reason, and the smallest limit at which they
    come in.
    """
    from priompt_py.face.panels import Drawn
    from priompt_py.preview.explanation import table_lines, why_lines
    from priompt_py.preview.screen import screen_text, screen_width

    loaded = load(PromptOptions(**options))
    if why is not None:
        try:
            found = loaded.why(argument_text(why))
        except ArgumentValueError as error:
            raise Fault(str(error), place=loaded.name) from None
        shown = Drawn(why_lines(found, loaded.settings.token_limit, fits=loaded.fits()))
    else:
        decisions = loaded.render().decisions
        with progress_bar("levels") as progress:
            curve = loaded.curve(progress)
        shown = Drawn(table_lines(decisions, curve, screen_width(sys.stdout), plain=plain))
    write_screen(screen_text(shown, sys.stdout, plain=plain))
