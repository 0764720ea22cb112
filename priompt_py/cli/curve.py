"""``priompt curve``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from priompt_py.cli.faults import Fault
from priompt_py.cli.files import write_bytes
from priompt_py.cli.loading import BOUNDLESS, Loaded, load
from priompt_py.cli.options import plain_option, prompt_options, traceback_option
from priompt_py.cli.progress import progress_bar
from priompt_py.cli.rendering import PromptOptions
from priompt_py.cli.streams import shown, write_screen
from priompt_py.errors import SourceError

if TYPE_CHECKING:
    from priompt_py.model.curve import Curve

__all__ = ["curve"]


def _svg(found: Curve, name: str) -> bytes:
    from priompt_py.preview.curve_files import svg_of

    return svg_of(found, name).encode()


def _png(found: Curve, name: str) -> bytes:
    from priompt_py.preview.curve_files import png_of

    try:
        return png_of(found, name)
    except SourceError as error:
        raise Fault(str(error)) from None


def _csv(found: Curve, name: str) -> bytes:  # noqa: ARG001 - as the others
    return found.to_csv().encode()


WRITERS: dict[str, Callable[[Curve, str], bytes]] = {".csv": _csv, ".png": _png, ".svg": _svg}
"""What a file's suffix says that it should hold."""


@click.command("curve", short_help="Show what a prompt costs at each level.")
@prompt_options
@click.option("-o", "--output", metavar="FILE", help="Write a .svg, .png or .csv file instead of plotting.")
@plain_option
@traceback_option
def curve(output: str | None, *, plain: bool, **options: Any) -> None:
    """Plot what SOURCE costs at each level: tokens upwards, and from left to right the cutoff, from the highest priority
    to the lowest. SOURCE is as for render; a limit is needed only where limits in the prompt depend on it.
    """
    suffix = "" if output is None else Path(output).suffix.lower()
    if output is not None and suffix not in WRITERS:
        raise Fault(f"-o needs a file that ends in {', '.join(WRITERS)}, got {shown(output)!r}")
    loaded = load(PromptOptions(**options), needs_limit=False)
    with progress_bar("levels") as progress:
        found = loaded.curve(progress)
    if output is not None:
        write_bytes(output, WRITERS[suffix](found, loaded.name))
    else:
        _plot(loaded, found, plain=plain)


def _plot(loaded: Loaded, found: Curve, *, plain: bool) -> None:
    from priompt_py.face.panels import Drawn
    from priompt_py.preview.plot import plot_lines, told_of
    from priompt_py.preview.screen import screen_text, screen_width

    lines = [*plot_lines(found, screen_width(sys.stdout), plain=plain), ""]
    lines.append(told_of(found, has_limit=loaded.settings.token_limit != BOUNDLESS))
    drawn = Drawn([(line, "text")] for line in lines)
    write_screen(screen_text(drawn, sys.stdout, plain=plain))
