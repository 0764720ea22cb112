"""``priompt``: the entry point, and the table of commands.

A command's module is imported when the command is asked for; ``priompt --help`` imports none of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from priompt_py.cli import faults, streams

__all__ = ["COMMANDS", "main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("priompt_py.cli.check:check", "Look for mistakes in templates and prompts."),
    "context": ("priompt_py.cli.context:context", "Make a file of messages ready for a model."),
    "count": ("priompt_py.cli.count:count", "Count the tokens of a file or of standard input."),
    "curve": ("priompt_py.cli.curve:curve", "Show what a prompt costs at each level."),
    "diff": ("priompt_py.cli.diff:diff", "Show where two renders part."),
    "explain": ("priompt_py.cli.explain:explain", "Show what is in and out, and why."),
    "fmt": ("priompt_py.cli.fmt:fmt", "Format templates."),
    "kb": ("priompt_py.cli.kb:kb", "Add documents to a knowledge base, and search it."),
    "preview": ("priompt_py.cli.preview:preview", "Show a prompt as a person wants to see it."),
    "prune": ("priompt_py.cli.prune:prune", "Drop old and repeated messages from a file of messages."),
    "render": ("priompt_py.cli.render:render", "Render a prompt to standard output."),
    "serve": ("priompt_py.cli.serve:serve", "Show prompts in a browser."),
    "test": ("priompt_py.cli.test:test", "Test the examples of prompts against their limits."),
}
"""Where each command is, and its line in ``priompt --help``."""


class Commands(click.Group):
    """A group whose commands are loaded on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS:
            if name.startswith("-"):
                raise click.NoSuchOption(name, ctx=ctx)
            raise faults.Fault(
                f"no command {streams.argument_text(name)!r}{faults.near(name, COMMANDS)}; "
                f"it is one of {', '.join(sorted(COMMANDS))}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001 - click's
    if value:
        from importlib.metadata import version

        click.echo(f"priompt {version('priompt-py')}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
@click.option(
    "--traceback", is_flag=True, expose_value=False, help="Show where in the code an error was raised."
)
def commands() -> None:
    """Prompts as trees with priorities, rendered to exactly what fits a token limit.

    Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the prompt does not fit or
    a check found something, 2 wrong usage, 3 the prompt's own code or template failed.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and give its exit code."""
    streams.prepare()
    if "_PRIOMPT_COMPLETE" in os.environ:  # a shell asks for completions
        commands.main(prog_name="priompt")
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except (KeyboardInterrupt, click.Abort):
        streams.warn("priompt: interrupted")
        return faults.INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - the last stop: every error becomes a line and a code
        if isinstance(error, OSError):
            streams.give_up_stdout()
        if streams.is_closed_pipe(error):
            return faults.DONE
        return faults.report(error, with_traceback=faults.in_traceback_mode(given))


def _run(arguments: list[str]) -> int:
    try:
        with commands.make_context("priompt", list(arguments)) as context:  # the parser empties the list
            try:
                commands.invoke(context)
            except click.UsageError as error:
                if (
                    error.ctx is None and context.invoked_subcommand is not None
                ):  # the parser doesn't say whose
                    command = commands.get_command(context, context.invoked_subcommand)
                    assert command is not None
                    error.ctx = click.Context(command, context, context.invoked_subcommand)
                raise
            sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    return faults.DONE


if __name__ == "__main__":
    sys.exit(main())
