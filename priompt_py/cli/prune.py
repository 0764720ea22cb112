"""``priompt prune``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from priompt_py.cli.faults import Fault
from priompt_py.cli.message_files import FORMS, MessageFile, read_messages
from priompt_py.cli.options import choose, read_count, tokenizer_options, traceback_option
from priompt_py.cli.pass_report import Counter, Done, finish
from priompt_py.cli.rendering import checked_tokenizer
from priompt_py.cli.streams import argument_text
from priompt_py.context.passes.prune import Pruner
from priompt_py.context.passes.prune import prune as prune_pass
from priompt_py.context.pipelines import pipeline
from priompt_py.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["counter", "file_options", "prune", "prune_options", "pruner", "read_file"]

F = TypeVar("F", bound=Callable[..., Any])


def file_options(command: F) -> F:
    """``FILE``, how it is read, and where the result goes."""
    for decorate in (
        traceback_option,
        tokenizer_options,
        click.option(
            "-o", "--output", metavar="FILE", help="Write the result to FILE instead, all or nothing."
        ),
        click.option("--quiet", is_flag=True, help="No report on standard error."),
        click.option("--json", "as_json", is_flag=True, help="The report as JSON, with the messages in it."),
        click.option(
            "--form", metavar="FORM", help=f"{' or '.join(FORMS)}; told from the file when not given."
        ),
        click.argument("file", metavar="FILE"),
    ):
        command = decorate(command)
    return command


def prune_options(command: F) -> F:
    """What pruning goes by."""
    for decorate in (
        click.option(
            "--whitelist",
            metavar="TERM",
            multiple=True,
            help="A term that keeps whatever speaks of it; can be given several times.",
        ),
        click.option("--query", metavar="TEXT", help="The question; the last user message when not given."),
        click.option("--passes", metavar="N", help="How often; neighbours are merged between. 2."),
        click.option("--min-refs", metavar="N", help="So many messages bring a definition back. 2."),
        click.option("--ngram", metavar="N", help="Tokens in a row that make a copy. 5."),
        click.option("--max-age", metavar="N", help="Steps behind the newest message. 10."),
    ):
        command = decorate(command)
    return command


@click.command("prune", short_help="Drop old and repeated messages from a file of messages.")
@file_options
@prune_options
@click.option(
    "--demote", is_flag=True, help="Drop nothing: tell the low priorities that these messages would get."
)
def prune(
    file: str,
    form: str | None,
    output: str | None,
    tokenizer: str | None,
    model: str | None,
    *,
    as_json: bool,
    quiet: bool,
    demote: bool,
    **options: Any,
) -> None:
    """Drop messages that are old and have nothing to do with the last question, and copies of earlier ones, from FILE;
    definitions that are still spoken of stay.

    FILE holds messages as OpenAI or Anthropic have them: a list or a request as JSON, or a message or a request on each
    line; - is standard input. What stays goes to standard output in the same form; what went, and why, to standard
    error.
    """
    run = pruner(mode="demote" if demote else "drop", **options)
    count = counter(tokenizer, model)
    found = read_file(file, form)
    done: list[Done] = []
    for chat in found.chats:
        kept, report = pipeline(run)(chat.messages)
        done.append(Done(chat, kept, report, chat.written(kept)))
    finish(found, done, count, as_json=as_json, quiet=quiet, output=output)


def pruner(
    *, mode: Any = "drop", whitelist: tuple[str, ...], query: str | None, **numbers: str | None
) -> Pruner:
    """The pass that the options describe. Raises Fault."""
    given: dict[str, Any] = {
        name: read_count(f"--{name.replace('_', '-')}", value, _UNITS[name])
        for name, value in numbers.items()
        if value is not None
    }
    try:
        return prune_pass(
            mode=mode,
            whitelist=[argument_text(term) for term in whitelist],
            query=None if query is None else argument_text(query),
            **given,
        )
    except (ArgumentTypeError, ArgumentValueError) as error:
        name = (error.argument or "").replace("_", "-")
        raise Fault(f"--{name}: {str(error).partition('() ')[2]}") from None


_UNITS = {"max_age": "steps", "ngram": "tokens", "min_refs": "messages", "passes": "rounds"}


def counter(tokenizer: str | None, model: str | None) -> Counter:
    """Counts tokens as the options say."""
    from priompt_py.tokens.models import info_for_encoding, model_info
    from priompt_py.tokens.tokenizer import get_tokenizer

    chosen = get_tokenizer(checked_tokenizer(tokenizer, model))
    info = info_for_encoding(chosen.name) if model is None else model_info(model)
    return Counter(chosen.count, info.images)


def read_file(file: str, form: str | None) -> MessageFile:
    """The chats of a file. Raises Fault."""
    return read_messages(file, None if form is None else choose("--form", form, FORMS))
