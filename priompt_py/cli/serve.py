"""``priompt serve``."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from priompt_py.cli.faults import Fault
from priompt_py.cli.files import STDIN
from priompt_py.cli.options import read_count, traceback_option
from priompt_py.cli.streams import argument_text, warn, write_result
from priompt_py.errors import SourceError

if TYPE_CHECKING:
    from priompt_py.web.serving import Serving

__all__ = ["serve"]

FACTORY = "priompt_py.cli.served:sources_served"
"""What makes the catalogue, in the processes that run prompts."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command("serve", short_help="Show prompts in a browser.")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option("--port", metavar="N", help="Where to listen; 4180 when not given, 0 takes a free one.")
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Listen on this address. Beyond loopback, everybody who has the token can run the prompts' code.",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="A further name that browsers may ask for, name or name:port.",
)
@click.option(
    "--module",
    "modules",
    metavar="MODULE",
    multiple=True,
    help="A module or .py file that registers prompts to show.",
)
@click.option(
    "--timeout", metavar="SECONDS", help="What a prompt's code may take for one request; 30 when not given."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@traceback_option
def serve(
    sources: tuple[str, ...], port: str | None, timeout: str | None, *, opens: bool, **options: Any
) -> None:
    """Show prompts in a page: sliders for the limit and the cutoff, what is in and out, costs, tokens, requests; and the
    questions of programs that call live(). SOURCE is as for render, or a folder with templates; without any, what the
    modules of --module, PRIOMPT_MODULES or pyproject.toml register, and the templates below this folder.

    Prompts run in processes of their own, which are ended where code hangs, and started anew when a file changes. The
    page's address holds a token: without it nothing is shown. Ctrl+C ends the server.
    """
    found = _serving(sources, port, timeout, **options)
    from priompt_py.web import serving as web

    sock = _listening(web, found)
    if found.host not in _LOOPBACK:
        warn(
            f"priompt: listening on {found.host}: whoever has the address below, token included, can read and run "
            "these prompts"
        )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(web.serve(found, sock, ready=lambda address: _ready(address, opens=opens)))


def _serving(
    sources: tuple[str, ...], port: str | None, timeout: str | None, host: str, **options: Any
) -> Serving:
    """The options, checked. Raises Fault."""
    if STDIN in sources:
        raise Fault("serve needs files: standard input can be read only once")
    if "" in sources:
        raise Fault("SOURCE... needs names, got ''")
    try:
        Path.cwd()
    except FileNotFoundError:
        raise Fault("the working folder is not there any more") from None
    number = 4180 if port is None else read_count("--port", port, "a port")
    if number > 65_535:
        raise Fault(f"--port needs a number up to 65535, got {number}")
    seconds = 30 if timeout is None else read_count("--timeout", timeout, "seconds")
    if not seconds:
        raise Fault("--timeout needs 1 second or more, got 0")
    try:
        from priompt_py.web.serving import Serving
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise Fault(f"the web preview needs {error.name}: pip install 'priompt-py[preview]'") from None
    from priompt_py.web.guard import is_host

    names = tuple(argument_text(name) for name in options["hosts"])
    for name in names:
        if not is_host(name):
            raise Fault(f"--allow-host needs a name as in preview.example:8443, got {name!r}")
    return Serving(
        factory=FACTORY,
        argument={"sources": list(sources), "modules": list(options["modules"])},
        host=argument_text(host),
        port=number,
        hosts=names,
        timeout=float(seconds),
    )


def _listening(web: Any, found: Serving) -> Any:
    try:
        return web.listening(found.host, found.port)
    except SourceError as error:
        raise Fault(str(error)) from None


def _ready(address: str, *, opens: bool) -> None:
    """Say where the page is."""
    write_result(f"{address}\n")
    warn(f"priompt: serving {_shown_folder()}; Ctrl+C ends it")
    if opens:
        import threading
        import webbrowser

        # A browser of the terminal runs until it is left.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _shown_folder() -> str:
    folder = Path.cwd()
    home = os.path.expanduser("~")  # noqa: PTH111 - stays as it is where there is none
    return (
        f"~/{folder.relative_to(home)}"
        if folder.is_relative_to(home) and str(folder) != home
        else str(folder)
    )
