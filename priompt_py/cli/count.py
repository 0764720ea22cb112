"""``priompt count``."""

from __future__ import annotations

import click

from priompt_py.cli.files import read_text
from priompt_py.cli.options import tokenizer_options, traceback_option
from priompt_py.cli.rendering import checked_tokenizer
from priompt_py.cli.streams import write_result


@click.command("count", short_help="Count the tokens of a file or of standard input.")
@click.argument("file", metavar="FILE")
@tokenizer_options
@traceback_option
def count(file: str, tokenizer: str | None, model: str | None) -> None:
    """Count the tokens of FILE, or of standard input for -.

    The file is UTF-8 text; a byte-order mark at its start is not counted. Text that looks like a special token is
    counted as the text that it is.
    """
    from priompt_py.tokens.tokenizer import get_tokenizer

    counter = get_tokenizer(checked_tokenizer(tokenizer, model))
    write_result(f"{counter.count(read_text(file))}\n")
