"""From a source and options to a render: what every command that shows a prompt does first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from priompt_py.author.children import spread
from priompt_py.cli.faults import Fault, prompt_code
from priompt_py.cli.files import STDIN
from priompt_py.cli.options import read_limit
from priompt_py.cli.props import is_named, read_props
from priompt_py.cli.sources import Source, importable, load_source
from priompt_py.cli.streams import argument_text
from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import Node
from priompt_py.preview.compiling import asks_for_arender, has_async_nodes

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered

__all__ = [
    "PromptOptions",
    "checked_tokenizer",
    "needed_limit",
    "render_source",
    "with_source",
]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class PromptOptions:
    """What ``prompt_options`` adds to a command, as it was typed."""

    source: str
    props: str | None
    modules: tuple[str, ...]
    settings: tuple[str, ...]
    limit: str | None
    tokenizer: str | None
    model: str | None
    last_message_incomplete: bool


def render_source(options: PromptOptions, *, callbacks: bool = True, source_map: bool = False) -> Rendered:
    """Load the source, make its node, render it. Raises Fault."""

    def run(source: Source, props: Mapping[str, Any], limit: int | None, tokenizer: str) -> Rendered:
        return _render(
            source,
            props,
            token_limit=needed_limit(source, limit),
            tokenizer=tokenizer,
            model=options.model,
            last_message_incomplete=options.last_message_incomplete,
            callbacks=callbacks,
            source_map=source_map,
        )

    return with_source(options, run)


def with_source(options: PromptOptions, run: Callable[[Source, Mapping[str, Any], int | None, str], T]) -> T:
    """Load the source, and run something as its code, with its props, its limit and the name of its tokenizer.
    Raises Fault."""
    limit = read_limit(options.limit)
    if options.source == STDIN and options.props == STDIN:
        raise Fault("standard input can't be both SOURCE and --props")
    # What is wrong with them is told before any code is run; a name is looked up in the source.
    props = {} if is_named(options.props) else read_props(options.props, options.settings)
    tokenizer = checked_tokenizer(options.tokenizer, options.model)
    with importable(options.source, options.modules):
        source = load_source(options.source, options.modules)
        if is_named(options.props):
            props = read_props(options.props, options.settings, source.props_named)
        if options.tokenizer is None and options.model is None and source.tokenizer is not None:
            tokenizer = checked_tokenizer(source.tokenizer, None)
        with prompt_code(source.name):
            return run(source, props, source.token_limit if limit is None else limit, tokenizer)


def needed_limit(source: Source, limit: int | None) -> int:
    """The limit, where there is one. Raises Fault."""
    if limit is None:
        raise Fault(
            "no token limit: give --limit N, or the prompt a token_limit of its own", place=source.name
        )
    return limit


def checked_tokenizer(tokenizer: str | None, model: str | None) -> str:
    """The tokenizer's name; raises TokenizerError for names that are not known, before any prompt is run."""
    from priompt_py.face.settings import DEFAULT_TOKENIZER
    from priompt_py.tokens.models import model_info
    from priompt_py.tokens.tokenizer import get_tokenizer

    name = DEFAULT_TOKENIZER if model is None else model_info(model).encoding
    if tokenizer is not None:
        name = argument_text(tokenizer)
    get_tokenizer(name)
    return name


def _render(source: Source, props: Mapping[str, Any], **keywords: Any) -> Rendered:
    """Render without an event loop where nothing is async, since a component may run one of its own."""
    import asyncio

    from priompt_py.face.render import acompile_prompt, compile_prompt

    async def compiled(node: Node) -> Rendered:
        program = await acompile_prompt(node)
        return await program.arender(**keywords)

    children = spread(source.build(props), "root")
    if has_async_nodes(children):
        return asyncio.run(compiled(children))
    try:
        program = compile_prompt(children)
    except ArgumentTypeError as error:
        if not asks_for_arender(error):
            raise
        return asyncio.run(
            compiled(source.build(props))
        )  # a component gave something async: all is made anew
    try:
        return program.render(**keywords)
    except ArgumentTypeError as error:
        if not asks_for_arender(error):
            raise
        return asyncio.run(program.arender(**keywords))  # a callback or the function of an `empty` is async
