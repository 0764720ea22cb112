"""``priompt render``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from priompt_py.cli.faults import Fault
from priompt_py.cli.files import STDIN, write_text
from priompt_py.cli.options import choose, prompt_options, traceback_option
from priompt_py.cli.rendering import PromptOptions, render_source
from priompt_py.cli.streams import shown, write_result
from priompt_py.errors import PromptError

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


FORMATS: dict[str, Callable[[Rendered], str]] = {
    "text": lambda rendered: rendered.to_text(),
    "messages": lambda rendered: _json(rendered.to_messages()),
    "openai": lambda rendered: _json(rendered.to_openai()),
    "openai-responses": lambda rendered: _json(rendered.to_openai_responses()),
    "anthropic": lambda rendered: _json(rendered.to_anthropic()),
    "gemini": lambda rendered: _json(rendered.to_gemini()),
    "langchain": lambda rendered: _json(rendered.to_langchain()),
    "json": lambda rendered: _json(rendered.to_json()),
    "tokens": lambda rendered: json.dumps(rendered.to_tokens()) + "\n",
}
"""What ``--format`` may say, and how a render becomes that."""


@click.command("render", short_help="Render a prompt to standard output.")
@prompt_options
@click.option(
    "--format",
    "form",
    metavar="FORMAT",
    help=f"One of {', '.join(FORMATS)}; text for plain prompts and messages for chats when not given.",
)
@click.option("--decisions", is_flag=True, help="With --format json: what became of each scope, and why.")
@click.option(
    "--source-map", metavar="FILE", help="Also write to FILE, as JSON, what each piece of text comes from."
)
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead, all or nothing.")
@traceback_option
def render(
    form: str | None, source_map: str | None, output: str | None, *, decisions: bool, **options: Any
) -> None:
    """Render SOURCE under its token limit, to standard output.

    SOURCE is a template (chat.priompt), package.module:prompt or file.py:prompt (a function, whose keyword arguments
    are the props, or a node), the id of a registered prompt, a JSON tree (tree.json), or - for a JSON tree on standard
    input.
    """
    if form is not None:
        choose("--format", form, tuple(FORMATS))
    if decisions and form != "json":
        raise Fault("--decisions goes with --format json")
    if (
        source_map is not None
        and output is not None
        and os.path.realpath(source_map) == os.path.realpath(output)
    ):
        raise Fault(f"--source-map and -o name the same file, {shown(output)!r}")
    rendered = render_source(PromptOptions(**options), source_map=source_map is not None)
    if form is None:
        form = "text" if rendered.messages is None else "messages"
    try:
        text = _json(rendered.to_json(decisions=True)) if decisions else FORMATS[form](rendered)
    except PromptError as error:  # an image has no tokens, say
        raise Fault(str(error), place=shown(options["source"])) from error
    if rendered.source_map is not None and source_map is not None:
        write_text(source_map, _json(rendered.source_map.to_json()))
    if output is None or output == STDIN:
        write_result(text)
    else:
        write_text(output, text)
