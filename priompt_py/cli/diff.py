"""``priompt diff``."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import attrs
import click

from priompt_py.cli.faults import Fault, prompt_code
from priompt_py.cli.loading import load
from priompt_py.cli.options import plain_option, read_count, render_options, traceback_option
from priompt_py.cli.rendering import PromptOptions
from priompt_py.cli.streams import stdin_kept, write_screen

__all__ = ["diff"]


@click.command("diff", short_help="Show where two renders part.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
@render_options
@click.option("--props-b", metavar="PROPS", help="Props of B, instead of --props.")
@click.option("--set-b", metavar="NAME=VALUE", multiple=True, help="One prop of B, after those of --set.")
@click.option("--limit-b", metavar="N", help="The limit of B, instead of --limit.")
@click.option(
    "--memory",
    is_flag=True,
    help="Take them for two turns of a conversation: B is given what A remembers of its cut.",
)
@plain_option
@traceback_option
def diff(
    a: str,
    b: str | None,
    props_b: str | None,
    set_b: tuple[str, ...],
    limit_b: str | None,
    *,
    memory: bool,
    plain: bool,
    **options: Any,
) -> None:
    """Show where the renders of the sources A and B part, and how many tokens of prefix they share: what a prefix cache can
    keep. Without B, the two are renders of A, which --props-b, --set-b or --limit-b tell apart. With --memory, A is rendered
    as the first turn with previous=Memory(), and B with what that leaves.
    """
    from priompt_py.face.difference import first_difference
    from priompt_py.face.panels import Drawn
    from priompt_py.model.memory import Memory
    from priompt_py.preview.parting import parting_lines
    from priompt_py.preview.screen import screen_text, screen_width

    if b is None and props_b is None and not set_b and limit_b is None:
        raise Fault(
            "needs a second source, or --props-b, --set-b or --limit-b to tell two renders of A apart"
        )
    if limit_b is not None:
        read_count("--limit-b", limit_b, "tokens")
    one = PromptOptions(source=a, **options)
    other = attrs.evolve(
        one,
        source=a if b is None else b,
        props=one.props if props_b is None else props_b,
        settings=(*one.settings, *set_b),
        limit=one.limit if limit_b is None else limit_b,
    )
    with stdin_kept():
        before = load(one, previous=Memory() if memory else None)
        first = before.render(source_map=True)
        with _named_after_b(has_props=props_b is not None):
            after = load(other, previous=first.memory if memory else None)
        second = after.render(source_map=True)
    names = (before.name, after.name) if before.name != after.name else ("A", "B")
    with prompt_code(after.name):
        found = first_difference(first, second)
    lines = parting_lines(first, second, found, names, width=screen_width(sys.stdout), plain=plain)
    write_screen(screen_text(Drawn(lines), sys.stdout, plain=plain))


@contextmanager
def _named_after_b(*, has_props: bool) -> Generator[None]:
    """What is said of --set, which was right for A, is said of --set-b, and of --props where B has its own."""
    try:
        yield
    except Fault as fault:
        for name in ("--set", "--props") if has_props else ("--set",):
            if fault.message.startswith(f"{name} "):
                fault.message = fault.message.replace(name, f"{name}-b", 1)
            if fault.place is not None and fault.place.startswith(f"{name}:"):
                fault.place = fault.place.replace(name, f"{name}-b", 1)
        raise
