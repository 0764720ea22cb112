"""``run``: from a prompt, its props and a model to what the prompt gives back."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, RunError
from priompt_py.face.render import acompile_prompt
from priompt_py.face.rendered import Rendered
from priompt_py.face.settings import KEEP
from priompt_py.model.elements import Node
from priompt_py.model.memory import Memory
from priompt_py.runtime.calling import build, name_of_prompt, own_limit
from priompt_py.runtime.capture import Handlers, feed
from priompt_py.runtime.returns import Returns
from priompt_py.runtime.stream import ModelStream, Pieces, answer_of
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.limits import LimitChoice, limit_for
from priompt_py.tokens.models import find_model

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Model", "run", "run_sync"]

P = ParamSpec("P")

Model: TypeAlias = Callable[[Rendered], Any]
"""Called with the rendered prompt; gives text, a ModelOutput, a stream of pieces, or something to await for these."""


async def run(
    prompt: Callable[..., Any] | Node,
    props: Mapping[str, Any] | None = None,
    *,
    model: Model,
    token_limit: int | LimitChoice | None = None,
    window: int | None = None,
    answer: int | None = None,
    tokenizer: object = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
    source_map: bool = False,
    cache: TokenCache | None = None,
    previous: Rendered | Memory | None = None,
    keep: float | Fraction = KEEP,
    refill: float | Fraction | None = None,
    handler_timeout: float = 30.0,
) -> Any:
    """Render a prompt, ask a model, feed the prompt's handlers; what the prompt gives back.

    ``prompt`` is a function, a component or a template, called with ``props`` by name, or a node. One whose
    signature has ``on_return`` is given a function to give back a value with: ``on_return(value, p=0)``; the highest
    ``p`` counts, then the first call. Any other prompt gives the model's answer: a ModelOutput, or, where the model
    streams and nothing in the prompt takes the answer, the stream itself, a ModelStream.

    ``model(rendered)`` gives text, a ModelOutput, an iterator or async iterator (of texts, Deltas, or a client's own
    chunks or events), or something that can be awaited for one of these. A function that blocks blocks the loop.

    The limit, in tokens, is the smallest of ``token_limit``, the prompt's own ``token_limit`` (a template's, or an
    attribute of the function) and ``window - answer``; ``Rendered.limit_from`` says which it was. ``window`` is what the model takes, prompt and answer together, by default that of the model's
    ``name`` where it is known. ``answer`` is what the answer may take, by default the number that the prompt's
    config gives for ``max_response_tokens``, else the model's ``max_tokens``, else 0: what the prompt reserves lies inside the limit.
    ``tokenizer`` is by default that of the model's ``name``; the rest is as for ``render``. What the next call of a
    conversation is given as ``previous`` is the ``rendered`` that the model gets, or its ``memory``.

    All handlers run at the same time, in one task group: the first exception cancels the others and the model's
    stream and is raised itself. Each stream handler gets the whole stream, up to 64 pieces behind; one that returns
    or closes its iterator gets no more, and with the last one the stream is closed, unless the whole answer is
    wanted too. ``handler_timeout``: how many seconds a handler may leave its full queue standing.

    Raises RunError where nothing was given back, where a handler stands still, and for a model that gives no answer;
    ModelError for a stream that reports a failure; ModelOutputError for calls that can't be used; what ``render``
    raises, and unchanged what the prompt, its handlers and the model raise. Needs asyncio.
    """
    if not _loop_runs():
        raise RunError("run() needs asyncio's event loop: under another one, trio's say, it can't run")
    _check(model, handler_timeout)
    name = _known_name(model)
    limits = [(f"token_limit of {name_of_prompt(prompt)}", own_limit(prompt))]
    choice = _limit(token_limit, limits, window, answer or 0, name)
    returns = Returns()
    node, takes_return = build(prompt, props, returns)
    program = await acompile_prompt(node)

    async def render(choice: LimitChoice, *, callbacks: bool) -> Rendered:
        return await program.arender(
            token_limit=choice,
            tokenizer=tokenizer,
            model=name,
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

    if answer is None and (window is not None or name is not None):
        while True:
            tokens = (await render(choice, callbacks=False)).config.max_response_tokens
            if tokens is None:
                tokens = getattr(model, "max_tokens", None)
            smaller = _limit(token_limit, limits, window, tokens if isinstance(tokens, int) else 0, name)
            if smaller.limit >= choice.limit:
                break
            choice = smaller  # under which the config may be another one
    rendered = await render(choice, callbacks=True)
    handlers = Handlers.of(rendered)
    if takes_return and not handlers.names():
        returns.value([])  # nobody is there who could still call it: said before the model is asked
    given: Any = model(rendered)
    while inspect.isawaitable(given):
        given = await given
    found = answer_of(given)
    if isinstance(found, Pieces) and not (takes_return or handlers.takes_streams or handlers.takes_outputs):
        return ModelStream(found)
    output = await feed(
        found, handlers, to_the_end=not handlers.takes_streams, patience=float(handler_timeout)
    )
    return returns.value(handlers.names()) if takes_return else output


def _in_a_loop_of_its_own(function: Callable[P, Coroutine[Any, Any, Any]]) -> Callable[P, Any]:
    """The synchronous door of an async function. A stream is read to its end before the loop is closed."""

    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        async def go() -> Any:
            found = await function(*args, **kwargs)
            return await found.join() if isinstance(found, ModelStream) else found

        if _loop_runs():
            raise RunError(
                "run_sync() is for programs without an event loop; here one runs: write 'await run(...)'"
            )
        return asyncio.run(go())

    return call


run_sync = _in_a_loop_of_its_own(run)
"""``run`` for programs without an event loop: waits for the result. A stream is joined to a ModelOutput."""


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _check(model: object, handler_timeout: object) -> None:
    if not callable(model):
        raise ArgumentTypeError(f"run() needs a function for model, got model={got(model)}")
    if isinstance(handler_timeout, bool) or not isinstance(handler_timeout, int | float):
        raise ArgumentTypeError(
            f"run() needs a number of seconds for handler_timeout, got handler_timeout={got(handler_timeout)}"
        )
    if not handler_timeout > 0:
        raise ArgumentValueError(f"run() needs handler_timeout > 0, got handler_timeout={handler_timeout}")


def _known_name(model: object) -> str | None:
    """The name of the model behind a function, where the table has it: it settles the tokenizer and the window."""
    name = getattr(model, "name", None)
    return name if isinstance(name, str) and find_model(name) is not None else None


def _limit(
    token_limit: int | LimitChoice | None,
    others: list[tuple[str, int | None]],
    window: int | None,
    answer: int,
    name: str | None,
) -> LimitChoice:
    """The smallest limit. One that was chosen before keeps its reason."""
    chosen = token_limit if isinstance(token_limit, LimitChoice) else None
    given = token_limit if not isinstance(token_limit, LimitChoice) else token_limit.limit
    found = limit_for(model=name, window=window, answer=answer, limits=[("token_limit", given), *others])
    return found if chosen is None or found.limit < chosen.limit else chosen
