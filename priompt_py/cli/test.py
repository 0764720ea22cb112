"""``priompt test``: a gate for CI without writing Python."""

from __future__ import annotations

import ast
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from priompt_py.cli.faults import FAILED, Fault, prompt_code
from priompt_py.cli.files import name_of, read_text, write_text
from priompt_py.cli.junit import Result, junit_xml
from priompt_py.cli.options import read_limit, traceback_option
from priompt_py.cli.sources import importable, load_module
from priompt_py.cli.streams import shown, write_result
from priompt_py.cli.templates import SUFFIX
from priompt_py.errors import BudgetError

if TYPE_CHECKING:
    from priompt_py.preview.gate import Case

__all__ = ["test"]

FOUND = 1

_LEFT_OUT = ("node_modules", "build", "dist", "site-packages", "__pycache__")


@click.command("test", short_help="Test the examples of prompts against their limits.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--limit", metavar="N", help="Test at this limit alone, in the place of those that are declared."
)
@click.option("--junit", metavar="FILE", help="Also write the results to FILE as JUnit XML, all or nothing.")
@traceback_option
@click.pass_context
def test(context: click.Context, paths: tuple[str, ...], *, limit: str | None, junit: str | None) -> None:
    """Test prompts with their examples: whether they fit the limits that they declare and keep what they must keep.

    PATH is a template (chat.priompt), a Python file (all prompts that it registers, or file.py:NAME for one), a module
    (package.module or package.module:NAME), or a folder with templates and Python files in it.

    Limits and what must be kept stand in a template's front matter (token_limit, limits, must_keep, examples), or are
    attributes of these names of a function. A prompt without limits is tested around those at which it changes.
    """
    token_limit = read_limit(limit)
    results: list[Result] = []
    for path in paths:
        for place, cases in _found(path):
            write_result(f"{place}\n")
            for case in cases:
                result = case if isinstance(case, Result) else _tested(case, token_limit)
                results.append(result)
                write_result(_line(result))
    if not results or all(result.state == "skipped" for result in results):
        raise Fault("nothing was tested: no prompt has examples, or can be called without props")
    write_result(_summary(results))
    if junit is not None:
        write_text(junit, junit_xml(results))
    states = {result.state for result in results}
    if "broken" in states:
        context.exit(FAILED)
    if "failed" in states:
        context.exit(FOUND)


# ------------------------------------------------------------------------------------------ what there is to test


def _found(path: str) -> Iterator[tuple[str, list[Case | Result]]]:
    """The prompts of a path, with their examples, or with what is wrong with them."""
    if Path(path).is_dir():
        inside = [file for file in sorted(Path(path).rglob("*")) if _is_prompt_file(file, Path(path))]
        if not inside:
            raise Fault(
                f"there is no {SUFFIX} file below this folder, and no Python file that registers prompts",
                place=name_of(path),
            )
        for file in inside:
            yield from _found_in_file(str(file), in_folder=True)
    else:
        yield from _found_in_file(path)


def _is_prompt_file(file: Path, folder: Path) -> bool:
    parts = file.relative_to(folder).parts
    if any(part.startswith(".") or part in _LEFT_OUT for part in parts) or not file.is_file():
        return False
    if file.suffix == SUFFIX:
        return True
    is_test = file.name.startswith("test_") or file.name in ("conftest.py", "setup.py")
    return file.suffix == ".py" and not is_test and _registers(file)


def _registers(file: Path) -> bool:
    """Whether a Python file looks as if it registered prompts: it is not run to find out.

    One that can't be parsed does if it names this package: a gate must not pass because a file broke.
    """
    try:
        source = file.read_bytes()
    except OSError:
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return b"priompt_py" in source
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "priompt_py"
        for alias in node.names
    ]
    if "*" in imported:
        imported += [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return bool({"prompt", "register"} & set(imported)) or (
        bool({"prompt", "register"} & set(used))
        and any(alias.name.partition(".")[0] == "priompt_py" for alias in _imports(tree))
    )


def _imports(tree: ast.AST) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from node.names


def _found_in_file(path: str, *, in_folder: bool = False) -> Iterator[tuple[str, list[Case | Result]]]:
    """``in_folder``: one file among others, which are tested whatever is wrong with it."""
    if path.endswith(SUFFIX):
        try:
            read_text(path)  # says what is wrong with a file that can't be read
        except Fault as fault:
            if not in_folder:
                raise
            yield shown(path), [_broken(shown(path), "", fault, 0.0)]
            return
        yield shown(path), _cases(shown(path), functools.partial(_template, path))
        return
    place, colon, name = path.rpartition(":") if not path.endswith(".py") else (path, "", "")
    if not colon:
        place, name = path, ""
    with importable(place if place.endswith(".py") else path):
        if place.endswith(".py") and not Path(place).is_file():
            read_text(place)
        elif not place.endswith(".py") and (
            Path(path).exists() or not all(part.isidentifier() for part in place.split("."))
        ):
            read_text(path)  # says that there is no such file
            raise Fault(f"is no {SUFFIX} file, Python file, module or folder", place=name_of(path))
        try:
            with prompt_code(shown(place)):
                module = load_module(place, Path())
        except Fault as fault:
            if fault.code != FAILED and not in_folder:
                raise
            yield shown(path), [_broken(shown(path), "", fault, 0.0)]
            return
        prompts = _named(module, name, shown(path)) if name else _registered(module)
        if not prompts and not in_folder:
            raise Fault("registers no prompts: @prompt(id=…) does", place=shown(path))
        for label, prompt in prompts:
            full = label if name else f"{shown(path)}:{label}"
            yield full, _cases(full, functools.partial(_itself, prompt))


def _itself(prompt: Any) -> Any:
    return prompt


def _template(path: str) -> Any:
    from priompt_py.template.environment import load_template

    return load_template(path)


def _named(module: Any, name: str, place: str) -> list[tuple[str, Any]]:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Fault(f"no {part!r} in it", place=place)
        found = getattr(found, part)
    return [(place, found)]


def _registered(module: Any) -> list[tuple[str, Any]]:
    from priompt_py.preview.registry import registered_prompts

    name = getattr(module, "__name__", None)
    inside = [getattr(module, each, None) for each in dir(module)]
    return [
        (entry.id, entry)
        for entry in registered_prompts().values()
        if getattr(entry.recorder.function, "__module__", None) == name
        or any(value is entry.function for value in inside)
    ]


def _cases(place: str, load: Callable[[], Any]) -> list[Case | Result]:
    from priompt_py.preview.gate import cases_of

    try:
        with prompt_code(place):
            return list(cases_of(place, load()))
    except Fault as fault:
        return [_broken(place, "", fault, 0.0)]


# ------------------------------------------------------------------------------------------ testing and telling


def _tested(case: Case, token_limit: int | None) -> Result:
    from priompt_py.preview.gate import checked_case

    if case.props is None:
        return Result(case.place, case.name, "skipped", "it needs props, and has no examples", 0.0)
    started = time.perf_counter()
    try:
        with prompt_code(case.place):
            try:
                found = checked_case(case, token_limit)
            except BudgetError as error:
                return Result(case.place, case.name, "failed", str(error), time.perf_counter() - started)
    except Fault as fault:
        return _broken(case.place, case.name, fault, time.perf_counter() - started)
    sizes = [r.token_count + r.tokens_reserved for r in found.values() if r is not None]
    tokens = (
        f"{min(sizes):,} to {max(sizes):,}" if len(set(sizes)) > 1 else f"{sizes[0]:,}" if sizes else "no"
    )
    text = f"{tokens} {'token' if tokens == '1' else 'tokens'} at {_limits(list(found))}"
    return Result(case.place, case.name, "passed", text, time.perf_counter() - started)


def _limits(limits: Sequence[int]) -> str:
    if len(limits) <= 3:
        return f"{'a limit' if len(limits) == 1 else 'limits'} of {', '.join(f'{one:,}' for one in limits)}"
    return f"{len(limits)} limits from {limits[0]:,} to {limits[-1]:,}"


def _broken(place: str, name: str, fault: Fault, seconds: float) -> Result:
    return Result(place, name, "broken", str(fault), seconds)


_MARKS = {"passed": "ok  ", "failed": "FAIL", "broken": "FAIL", "skipped": "-   "}


def _line(result: Result) -> str:
    """What is said of an example: a line, and for one that failed why, below it."""
    name = result.name or "(no props)"
    first, *rest = result.text.split("\n")
    lines = [f"  {_MARKS[result.state]} {name}: {first}", *(f"       {line}" for line in rest)]
    return "\n".join(lines) + "\n"


def _summary(results: Sequence[Result]) -> str:
    counts = {state: sum(result.state == state for result in results) for state in _MARKS}
    words = {"passed": "passed", "failed": "failed", "broken": "with errors", "skipped": "not tested"}
    parts = [f"{number} {words[state]}" for state, number in counts.items() if number]
    total = "1 example" if len(results) == 1 else f"{len(results)} examples"
    return f"{total}: {', '.join(parts)}\n"
