"""``priompt fmt``."""

from __future__ import annotations

import click

from priompt_py.cli import faults
from priompt_py.cli.files import STDIN, name_of, read_text, write_text
from priompt_py.cli.options import traceback_option
from priompt_py.cli.streams import write_result
from priompt_py.cli.templates import SUFFIX, find_files
from priompt_py.errors import TemplateError

__all__ = ["fmt"]


@click.command("fmt", short_help="Format templates.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not formatted.")
@traceback_option
@click.pass_context
def fmt(context: click.Context, paths: tuple[str, ...], *, check: bool) -> None:
    """Format .priompt files in place, and those below folders; - is standard input, to standard output.

    Formatting never changes the prompt. The names of the files that were changed go to standard output.
    """
    from priompt_py.template.format import format_template

    changed = 0
    failed: list[faults.Fault] = []
    for path in find_files(paths):
        if path != STDIN and not path.endswith(SUFFIX):
            raise faults.Fault(f"is no {SUFFIX} file", place=name_of(path))
        try:
            text = read_text(path)
            formatted = format_template(text, name_of(path))
            if path != STDIN and formatted != text and not check:
                write_text(path, formatted)
        except TemplateError as error:
            failed.append(faults.template_fault(error))
            continue
        except (
            faults.Fault
        ) as fault:  # a file that can't be read or written: the others are formatted all the same
            failed.append(fault)
            continue
        if path == STDIN and not check:
            write_result(formatted)
        elif formatted != text:
            changed += 1
            write_result(f"{name_of(path)}\n")
    faults.raise_worst(failed)
    if check and changed:
        context.exit(1)
