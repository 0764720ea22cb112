"""``priompt context``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import click

from priompt_py.cli.faults import TOO_LONG, Fault
from priompt_py.cli.message_files import Chat
from priompt_py.cli.options import choose, read_count, read_limit
from priompt_py.cli.pass_report import Done, finish
from priompt_py.cli.prune import counter, file_options, prune_options, pruner, read_file
from priompt_py.cli.rendering import checked_tokenizer
from priompt_py.cli.streams import argument_text
from priompt_py.context.messages import Message
from priompt_py.context.passes.units import units
from priompt_py.context.pipelines import Pipeline, default_pipeline
from priompt_py.errors import PromptError, PromptTooLong

if TYPE_CHECKING:
    from priompt_py.context.assembly import Assembly
    from priompt_py.context.reports import ContextReport
    from priompt_py.face.rendered import Rendered

__all__ = ["context"]

_MODES = ("remove", "stub")
_MOST_NAMED = 12  # ids in a note


@click.command("context", short_help="Make a file of messages ready for a model.")
@file_options
@click.option("--limit", metavar="N", help="The most tokens; older messages and long results go first.")
@click.option("--reserve", metavar="N", help="Tokens of the limit that are kept for the answer. 0.")
@click.option("--max-messages", metavar="N", help="The most messages before the last one.")
@click.option(
    "--sticky", is_flag=True, help="Drop for --max-messages in steps, to keep the prompt's beginning."
)
@click.option("--keep-tool-rounds", metavar="N", help="Rounds whose tool calls stay; -1 for all. 2.")
@click.option("--tool-mode", metavar="MODE", help="Old tool calls: remove, or stub. remove.")
@click.option("--prune", "pruned", is_flag=True, help="Prune, too; see priompt prune.")
@prune_options
def context(
    file: str,
    form: str | None,
    output: str | None,
    tokenizer: str | None,
    model: str | None,
    limit: str | None,
    reserve: str | None,
    max_messages: str | None,
    keep_tool_rounds: str | None,
    tool_mode: str | None,
    *,
    as_json: bool,
    quiet: bool,
    sticky: bool,
    pruned: bool,
    **options: Any,
) -> None:
    """Make FILE ready for a model: a limit on messages, old tool calls out, calls and results that belong together.
    With --limit, what fits so many tokens.

    FILE is as for priompt prune. The result goes to standard output in the same form, what went, and why, to standard
    error.
    """
    if not pruned and any(options.values()):
        name = next(name for name, value in options.items() if value).replace("_", "-")
        raise Fault(f"--{name} goes with --prune")
    if sticky and max_messages is None:
        raise Fault("--sticky goes with --max-messages")
    if reserve is not None and limit is None:
        raise Fault("--reserve goes with --limit")
    run = default_pipeline(
        (),
        pruner(**options) if pruned else None,
        None if max_messages is None else read_count("--max-messages", max_messages, "messages"),
        2 if keep_tool_rounds is None else _rounds(keep_tool_rounds),
        sticky=sticky,
        tool_mode="remove" if tool_mode is None else _mode(tool_mode),
    )
    fit = _fitted(
        read_limit(limit),
        0 if reserve is None else read_count("--reserve", reserve, "tokens"),
        tokenizer,
        model,
    )
    count = counter(tokenizer, model)
    found = read_file(file, form)
    done = [fit(chat, run) for chat in found.chats]
    finish(found, done, count, as_json=as_json, quiet=quiet, output=output)


def _rounds(value: str) -> int:
    if value.startswith("-") and value[1:].isascii() and value[1:].isdigit():
        return -1
    try:
        return read_count("--keep-tool-rounds", value, "rounds")
    except Fault:
        raise Fault(
            f"--keep-tool-rounds needs a whole number of rounds, got {argument_text(value)!r}"
        ) from None


def _mode(value: str) -> Any:
    return choose("--tool-mode", value, _MODES)


def _fitted(
    limit: int | None, reserve: int, tokenizer: str | None, model: str | None
) -> Callable[[Chat, Pipeline], Done]:
    """What becomes of a chat: the passes, and with a limit what fits it."""
    if limit is None:
        return _passed
    name = checked_tokenizer(tokenizer, model)

    def fit(chat: Chat, run: Pipeline) -> Done:
        from priompt_py.context.assembly import assemble
        from priompt_py.face.render import render

        try:
            assembly = assemble(
                chat.messages, window=None, tokenizer=name, passes=run, output_reserve=reserve
            )
            rendered = render(assembly.node, token_limit=limit, tokenizer=name, model=model)
        except PromptTooLong as error:
            raise Fault(str(error), place=chat.place, code=TOO_LONG) from error
        except PromptError as error:
            raise Fault(str(error), place=chat.place) from error
        return _explained(chat, assembly, rendered, limit)

    return fit


def _passed(chat: Chat, run: Pipeline) -> Done:
    kept, report = run(chat.messages)
    return Done(chat, kept, report, chat.written(kept))


def _explained(chat: Chat, assembly: Assembly, rendered: Rendered, limit: int) -> Done:
    """The report with a note of what the limit took, and in which form results are."""
    ids = {message.id for message in assembly.messages}
    out = {one.label for one in rendered.decisions if one.label in ids and not one.included}
    results = [one.label for one in rendered.decisions if one.included and one.label in ("capped", "note")]
    kept: list[Message] = []
    gone: list[str] = []
    for unit in units(assembly.messages):  # one scope, which has the name of its first message
        rows = assembly.messages[unit.start : unit.stop]
        if rows[0].id in out:
            gone += [message.id for message in rows]
        else:
            kept += rows
    notes = [*assembly.report.notes]
    if gone:
        more = f" and {len(gone) - _MOST_NAMED} more" if len(gone) > _MOST_NAMED else ""
        notes.append(f"left out to fit {limit:,} tokens: {', '.join(gone[:_MOST_NAMED])}{more}")
    for label, what in (("capped", "cut to 2,000 tokens"), ("note", "put by a note")):
        number = results.count(label)
        if number:
            notes.append(f"{number} tool result{'s' if number > 1 else ''} {what}")
    notes.append(f"{rendered.token_count:,} of {limit:,} tokens")
    report = attrs.evolve(assembly.report, notes=tuple(notes), events=())
    return _done(chat, kept, report, rendered)


def _done(chat: Chat, kept: list[Message], report: ContextReport, rendered: Rendered) -> Done:
    """The messages as they were rendered, each in the form of the file; those that are the same, as they stood there."""
    from priompt_py.context.histories import messages_of_chat

    sent = messages_of_chat(rendered.messages or ())
    shown = [
        old if _said(old) == _said(new) else attrs.evolve(old, parts=new.parts)
        for old, new in zip(kept, sent, strict=True)  # no message of a file holds results beside other things
    ]
    return Done(chat, shown, report, chat.written(shown))


def _said(message: Message) -> tuple[Any, ...]:
    """What a limit can change of a message: a result is cut, an id that came before is made another."""
    return message.text, message.calls, message.results
