"""What commands show, as the text that is written: colours as the terminal, NO_COLOR and --plain say."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["screen_text", "screen_width"]

LEAST = 20
"""Cells; a narrower terminal gets lines of this width."""

UNKNOWN = 80
"""Cells, where a terminal or COLUMNS says 0: it doesn't know."""


def screen_text(
    shown: RenderableType, stream: TextIO, *, plain: bool = False, width: int | None = None
) -> str:
    """``shown`` as text for ``stream``: with colours if it is a terminal that has them, in its width.

    Elsewhere the width is ``COLUMNS`` from the environment, else 80. ``plain`` is without colours.
    """
    from rich.console import Console

    about = Console(file=stream)
    kept = StringIO()
    # Text is written by the caller: rich ends the program where a pipe is closed.
    console = Console(
        file=kept,
        force_terminal=about.is_terminal and not plain,
        color_system=None if plain or not about.is_terminal else "auto",
        no_color=about.no_color or plain,
        width=max(LEAST, width or about.width or UNKNOWN),
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(shown, soft_wrap=True)  # nothing is cropped
    return kept.getvalue()


def screen_width(stream: TextIO) -> int:
    """The width, in cells, that ``screen_text`` draws in."""
    from rich.console import Console

    return max(LEAST, Console(file=stream).width or UNKNOWN)
