"""``render``, ``arender``, ``compile_prompt``: from a node to what the user gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priompt_py.author.children import close_unawaited, spread
from priompt_py.engine.expand import Expansions, close_coroutines
from priompt_py.face.expand_async import expand_async
from priompt_py.face.program import Program
from priompt_py.face.rendered import Rendered
from priompt_py.face.settings import KEEP, check_limit
from priompt_py.model.elements import Node
from priompt_py.model.memory import Memory
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.limits import LimitChoice

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["acompile_prompt", "arender", "compile_prompt", "render"]


def render(
    node: Node,
    *,
    token_limit: int | LimitChoice,
    tokenizer: object = None,
    model: str | None = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
    source_map: bool = False,
    callbacks: bool = True,
    cache: TokenCache | None = None,
    previous: Rendered | Memory | None = None,
    keep: float | Fraction = KEEP,
    refill: float | Fraction | None = None,
) -> Rendered:
    """Render a prompt at the smallest cutoff that fits ``token_limit`` tokens, exactly.

    ``token_limit`` is a number, or what ``limit_for`` chose; ``Rendered.limit_from`` says which limit it was.
    ``tokenizer`` is a name (``"o200k_base"``, any tiktoken name, a model's), a function that counts, or
    an object of the Tokenizer protocol; by default the model's own, else ``"o200k_base"``. ``model``
    also settles what images and tools cost. ``chat_format`` says what messages cost, by default the
    tokenizer's. ``last_message_incomplete``: the model goes on writing the last message.
    ``pair_tools=False`` switches off the rule that tool calls and results go together.
    ``source_map=True`` makes ``Rendered.source_map``. ``callbacks=False`` calls no callbacks.
    ``cache`` keeps counts of texts across renders.

    ``previous`` is the last render of a growing conversation, or its ``memory`` (``Memory()`` at the beginning): the
    cutoff then stays where it was while the prompt fits and needs more than the share ``refill`` of the limit (half of
    ``keep`` by default); else it moves to the smallest level that fits the share ``keep``. So the prompt's beginning
    stays the same for some turns, and a provider's prompt cache can be read.

    Raises PromptTooLong where no level fits, StructureError for a tree that no limit makes right,
    ArgumentTypeError or ArgumentValueError for arguments and children, TokenizerError, and whatever
    components and callbacks raise.
    """
    _check_limit(token_limit, node)
    return compile_prompt(node).render(
        token_limit=token_limit,
        tokenizer=tokenizer,
        model=model,
        chat_format=chat_format,
        last_message_incomplete=last_message_incomplete,
        pair_tools=pair_tools,
        source_map=source_map,
        callbacks=callbacks,
        cache=cache,
        previous=previous,
        keep=keep,
        refill=refill,
    )


async def arender(
    node: Node,
    *,
    token_limit: int | LimitChoice,
    tokenizer: object = None,
    model: str | None = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
    source_map: bool = False,
    callbacks: bool = True,
    cache: TokenCache | None = None,
    previous: Rendered | Memory | None = None,
    keep: float | Fraction = KEEP,
    refill: float | Fraction | None = None,
) -> Rendered:
    """``render`` with async components, async functions of ``empty`` and async callbacks.

    The async nodes of a prompt run concurrently, started in document order; the first that fails
    cancels the others and is raised, with its path as a note. Needs asyncio.
    """
    _check_limit(token_limit, node)
    program = await acompile_prompt(node)
    return await program.arender(
        token_limit=token_limit,
        tokenizer=tokenizer,
        model=model,
        chat_format=chat_format,
        last_message_incomplete=last_message_incomplete,
        pair_tools=pair_tools,
        source_map=source_map,
        callbacks=callbacks,
        cache=cache,
        previous=previous,
        keep=keep,
        refill=refill,
    )


def _check_limit(token_limit: object, node: Node) -> None:
    """Check the limit before anything runs; a refused call leaves no coroutine behind."""
    try:
        check_limit(token_limit)
    except BaseException:
        close_unawaited(node)
        raise


def compile_prompt(node: Node) -> Program:
    """Run a prompt's components and compile it, to be rendered again and again.

    Raises as ``render`` does, limits and tokenizers aside.
    """
    children = spread(node, "root")
    expansions = Expansions()
    try:
        return Program(children, expansions)
    except BaseException:
        close_coroutines(children, expansions)
        raise


async def acompile_prompt(node: Node) -> Program:
    """``compile_prompt`` with async components."""
    children = spread(node, "root")
    expansions = Expansions()
    try:
        await expand_async(children, expansions)
        return Program(children, expansions)
    except BaseException:
        close_coroutines(children, expansions)
        raise
