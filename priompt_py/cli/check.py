"""``priompt check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from priompt_py.cli import faults
from priompt_py.cli.files import STDIN, name_of, read_text
from priompt_py.cli.options import traceback_option
from priompt_py.cli.progress import progress_bar
from priompt_py.cli.sources import importable, load_source
from priompt_py.cli.streams import write_result
from priompt_py.cli.templates import SUFFIX, find_files
from priompt_py.errors import PromptError, PromptTooLong, TemplateError
from priompt_py.preview.no_return import ON_RETURN, with_return

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered
    from priompt_py.template.environment import Template

    Render: TypeAlias = tuple[str, Rendered]  # of an example, and where that is

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
    needs none) under its own limits; the renders of one example and the next are compared by what prefix caches can keep
    of them. Another source is loaded, and rendered if it needs no props. What is found goes
    to standard output, a line each; the exit code is 1 if anything is.
    """
    found: set[str] = set()  # an error in a template that others import is met several times
    failed: list[faults.Fault] = []
    files = find_files(paths)
    with progress_bar("files") as progress:
        for number, path in enumerate(files):
            if progress is not None:
                progress(number, len(files))
            findings = (
                _check_template(path) if path == STDIN or path.endswith(SUFFIX) else _check_source(path)
            )
            try:
                for text, is_error in findings:
                    if (is_error or not no_warnings) and text not in found:
                        found.add(text)
                        write_result(f"{text}\n")
            except (
                faults.Fault
            ) as fault:  # a file that can't be read, say: the others are checked all the same
                failed.append(fault)
            except TemplateError as error:  # a file whose name is none of a template
                failed.append(faults.template_fault(error, place=name_of(path)))
    faults.raise_worst(failed)
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
        # What the text alone shows of priorities is told where it stands in it, and not again of each render.
        told = any(
            "can never act" in str(finding) or "is never chosen" in str(finding) for finding in findings
        )
        yield from _try_template(load_template(path), name_of(path), with_priorities=not told)


def _try_template(template: Template, name: str, *, with_priorities: bool) -> Iterator[tuple[str, bool]]:
    """Render a template with its examples, or without props if it needs none; and compare the examples' renders."""
    front = template.front_matter
    cases: dict[str, Mapping[str, Any]] = dict(front.examples)
    is_open = not cases and front.props is None  # what it needs is found out by rendering it without
    if not cases and not any(prop.required and prop.name != ON_RETURN for prop in front.props or ()):
        cases = {"": {}}
    limits = [*([] if front.token_limit is None else [front.token_limit]), *front.limits]
    renders: list[Render] = []
    for label, props in cases.items():
        place = f"{name}:{front.lines.get(label, 1)}: example {label}" if label else name

        def build(props: Mapping[str, Any] = props) -> Any:
            return template(**with_return(template, props))

        yield from _try(
            place,
            build,
            limits,
            front.tokenizer,
            front.must_keep,
            with_priorities=with_priorities,
            renders=renders,
            is_open=is_open,
        )
    for (_, one), (place, other) in pairwise(renders):
        yield from _compare(place, one, other)


def _compare(place: str, one: Rendered, other: Rendered) -> Iterator[tuple[str, bool]]:
    """What keeps the renders of two examples, one after the other, from sharing a prefix."""
    from priompt_py.preview.priority_rules import growth_findings

    for finding in growth_findings(one, other, ("the example before", "this one")):
        yield f"{place}: {finding}", False


def _check_source(path: str) -> Iterator[tuple[str, bool]]:
    with importable(path):
        source = load_source(path)
        limits = [] if source.token_limit is None else [source.token_limit]
        try:
            with faults.prompt_code(source.name, passing=(PromptError,)):
                node = source.build({})
        except faults.Fault as fault:
            if "needs the prop" in fault.message:
                return  # nothing to render it with
            raise
        except PromptError as error:
            yield f"{source.name}: {error}", True
            return
        yield from _try(source.name, lambda: node, limits, source.tokenizer, ())


def _try(
    place: str,
    build: Callable[[], Any],
    limits: list[int],
    tokenizer: str | None,
    must_keep: tuple[str, ...],
    *,
    with_priorities: bool = True,
    renders: list[Render] | None = None,
    is_open: bool = False,
) -> Iterator[tuple[str, bool]]:
    """What is wrong with a prompt: its tree, its priorities, and what it is under each of its limits. ``renders`` takes the
    render under the first limit. ``is_open``: a template that may lack props, which is no mistake of it."""
    from priompt_py.face.render import compile_prompt
    from priompt_py.face.settings import DEFAULT_TOKENIZER

    try:
        with faults.prompt_code(place, passing=(PromptError,)):
            program = compile_prompt(build())
    except TemplateError as error:
        if is_open:
            return
        where = error.message if error.line is None else str(error).partition("\n")[0]
        yield where if where.startswith(f"{place}:") else f"{place}: {where}", True
        return
    except PromptError as error:
        if "await arender(" not in str(error):
            yield f"{place}: {error}", True
        return
    if with_priorities:
        from priompt_py.preview.priority_rules import priority_findings

        for finding in priority_findings(program):
            yield f"{place}: {finding}", False
    for limit in limits:
        try:
            with faults.prompt_code(place, passing=(PromptError,)):
                rendered = program.render(
                    token_limit=limit,
                    tokenizer=tokenizer or DEFAULT_TOKENIZER,
                    callbacks=False,
                    source_map=renders is not None,
                )
        except PromptTooLong as error:
            yield f"{place}: under its own limit: {error}", True
            continue
        except PromptError as error:
            yield f"{place}: {error}", True
            return
        if renders is not None and limit == limits[0]:
            renders.append((place, rendered))
        labels = {decision.label for decision in rendered.decisions if decision.included}
        for label in must_keep:
            if label not in labels:
                yield f"{place}: {label} must be kept, and is left out under the limit of {limit}", True
