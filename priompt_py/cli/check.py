"""``priompt check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from priompt_py.cli import faults
from priompt_py.cli.files import STDIN, name_of, read_text
from priompt_py.cli.options import traceback_option
from priompt_py.cli.sources import importable, load_source
from priompt_py.cli.streams import prints_to_stderr, write_result
from priompt_py.cli.templates import SUFFIX, find_files
from priompt_py.errors import PromptError, PromptTooLong, TemplateError

if TYPE_CHECKING:
    from priompt_py.template.environment import Template

__all__ = ["check"]

FOUND = 1


@click.command("check", short_help="Look for mistakes in templates and prompts.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--no-warnings", is_flag=True, help="Tell errors alone.")
@traceback_option
@click.pass_context
def check(context: click.Context, paths: tuple[str, ...], *, no_warnings: bool) -> None:
    """Look for mistakes in .priompt files, in those below folders, and in other prompt sources.

    A template is checked as it is written, and rendered with the examples of its front matter (without props if it
    needs none) under its own limits. Another source is loaded, and rendered if it needs no props. What is found goes
    to standard output, a line each; the exit code is 1 if anything is.
    """
    found: set[str] = set()  # an error in a template that others import is met several times
    for path in find_files(paths):
        findings = _check_template(path) if path == STDIN or path.endswith(SUFFIX) else _check_source(path)
        for text, is_error in findings:
            if (is_error or not no_warnings) and text not in found:
                found.add(text)
                write_result(f"{text}\n")
    if found:
        context.exit(FOUND)


def _check_template(path: str) -> Iterator[tuple[str, bool]]:
    from priompt_py.template.environment import Environment, load_template
    from priompt_py.template.lint import lint_source
    from priompt_py.template.loader import FileLoader
    from priompt_py.template.source import Source

    text = read_text(path)
    folder = Path() if path == STDIN else Path(path).parent
    environment = Environment(loader=FileLoader(folder))
    name = None if path == STDIN else Path(path).name
    findings = lint_source(Source(text, name_of(path)), environment, name=name)
    for finding in findings:
        yield str(finding), finding.is_error
    if path != STDIN and not any(finding.is_error for finding in findings):
        yield from _try_template(load_template(path), name_of(path))


def _try_template(template: Template, name: str) -> Iterator[tuple[str, bool]]:
    """Render a template with its examples, or without props if it needs none."""
    front = template.front_matter
    cases: dict[str, Mapping[str, Any]] = dict(front.examples)
    if not cases and front.props is not None and not any(prop.required for prop in front.props):
        cases = {"": {}}
    limits = [*([] if front.token_limit is None else [front.token_limit]), *front.limits]
    for label, props in cases.items():
        place = f"{name}:{front.lines.get(label, 1)}: example {label}" if label else name

        def build(props: Mapping[str, Any] = props) -> Any:
            return template(**props)

        yield from _try(place, build, limits, front.tokenizer, front.must_keep)


def _check_source(path: str) -> Iterator[tuple[str, bool]]:
    with importable(path):
        source = load_source(path)
        limits = [] if source.token_limit is None else [source.token_limit]
        try:
            node = source.build({})
        except faults.Fault as fault:
            if "needs the prop" in fault.message:
                return  # nothing to render it with
            raise
        yield from _try(source.name, lambda: node, limits, source.tokenizer, ())


def _try(
    place: str,
    build: Callable[[], Any],
    limits: list[int],
    tokenizer: str | None,
    must_keep: tuple[str, ...],
) -> Iterator[tuple[str, bool]]:
    """What is wrong with a prompt: its tree, and what it is under each of its limits."""
    from priompt_py.face.render import compile_prompt
    from priompt_py.face.settings import DEFAULT_TOKENIZER

    try:
        with prints_to_stderr():
            program = compile_prompt(build())
    except TemplateError as error:
        where = error.message if error.line is None else str(error).partition("\n")[0]
        yield where if where.startswith(f"{place}:") else f"{place}: {where}", True
        return
    except PromptError as error:
        if "await arender(" not in str(error):
            yield f"{place}: {error}", True
        return
    for limit in limits:
        try:
            rendered = program.render(
                token_limit=limit, tokenizer=tokenizer or DEFAULT_TOKENIZER, callbacks=False
            )
        except PromptTooLong as error:
            yield f"{place}: under its own limit: {error}", True
            continue
        except PromptError as error:
            yield f"{place}: {error}", True
            return
        labels = {decision.label for decision in rendered.decisions if decision.included}
        for label in must_keep:
            if label not in labels:
                yield f"{place}: {label} must be kept, and is left out under the limit of {limit}", True
