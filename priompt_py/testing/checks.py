"""``check_budget`` with the naive oracle, at the limits that were asked for or the one of ``--priompt-limit``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from hypothesis import currently_in_test_context

from priompt_py.face.render import render as priompt_render
from priompt_py.face.rendered import Rendered
from priompt_py.preview.checks import BudgetCheck
from priompt_py.testing.definition import DEFINITION
from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["acheck_budget", "budget_check", "check_budget", "only_limit"]


def check_budget(
    prompt: Any,
    props: Mapping[str, Any] | None = None,
    /,
    *,
    token_limits: int | Iterable[int] | None = None,
    must_keep: Iterable[str] | None = None,
    allow_too_long: bool | None = None,
    skip: Collection[str] = (),
    render: Callable[..., Rendered] = priompt_render,
    tokenizer: object = None,
    model: str | None = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
) -> dict[int, Rendered | None]:
    """Render a prompt at each limit, and check that it keeps to its budget.

    ``prompt`` is a function, a component, a template, a registered prompt, or a node; ``props`` are its keyword
    arguments. What is async is run, in a thread with an event loop of its own where one runs here already. The
    callbacks of the prompt are not called: recorders stand in their place.

    ``token_limits`` are tokens: one number, a range or a list. Of more than 50, the ends and those around which the
    prompt changes are tried. Without them the prompt's own limits (front matter, ``@prompt``) are taken; without those,
    limits around which the prompt changes. ``must_keep`` are labels (a scope's name, an element's key); without it,
    those of the front matter. ``allow_too_long``: whether the prompt may be too long for a limit; by default only where
    no limits were given. ``render`` is another function to check in the place of priompt's, with the same arguments.
    The rest are arguments of ``render``.

    What is checked, by the names that ``skip`` takes:

    ``fits``        the prompt is not too long for any limit
    ``within``      what is rendered, with what it reserves, stays within its limit
    ``count``       the count is the number of token ids
    ``refusal``     a prompt that is too long is refused, and the smallest limit that works is told
    ``kept``        what must be kept is in at every limit at which the prompt fits
    ``twice``       rendering twice gives the same
    ``tree``        rendering changes nothing in the tree
    ``callbacks``   every callback is called once, for the right fate, in document order
    ``source map``  the spans of the source map cover the text
    ``pairs``       tool calls and their results stay together
    ``growth``      a higher limit never loses a scope that stands in no ``first`` (not where limits in the tree are shares)
    ``smallest``    the cutoff is the smallest level that fits, by the naive oracle, for trees of up to 150 nodes
    ``definition``  so is all the rest of the prompt what the definition says
    ``props``       the prompt changes nothing in its props
    ``same``        the same props give the same prompt

    Gives what each limit gave, None where the prompt is too long. Raises BudgetError, which is an AssertionError, with
    the property, the limit and the smallest tree found that breaks it; and whatever the prompt's own code raises.
    """
    __tracebackhide__ = True
    check = budget_check(
        prompt,
        props,
        must_keep=must_keep,
        allow_too_long=allow_too_long,
        skip=skip,
        render=render,
        how=_how(tokenizer, model, chat_format, last_message_incomplete, pair_tools),
    )
    limit = only_limit()
    return check.run(token_limits if limit is None else limit)


async def acheck_budget(
    prompt: Any,
    props: Mapping[str, Any] | None = None,
    /,
    *,
    token_limits: int | Iterable[int] | None = None,
    must_keep: Iterable[str] | None = None,
    allow_too_long: bool | None = None,
    skip: Collection[str] = (),
    render: Callable[..., Rendered] = priompt_render,
    tokenizer: object = None,
    model: str | None = None,
    chat_format: ChatFormat | None = None,
    last_message_incomplete: bool = False,
    pair_tools: bool = True,
) -> dict[int, Rendered | None]:
    """``check_budget`` for an async prompt that needs the event loop that runs here."""
    __tracebackhide__ = True
    check = budget_check(
        prompt,
        props,
        must_keep=must_keep,
        allow_too_long=allow_too_long,
        skip=skip,
        render=render,
        how=_how(tokenizer, model, chat_format, last_message_incomplete, pair_tools),
    )
    limit = only_limit()
    return await check.arun(token_limits if limit is None else limit)


def budget_check(
    prompt: Any,
    props: Mapping[str, Any] | None,
    *,
    must_keep: Iterable[str] | None,
    allow_too_long: bool | None,
    skip: Collection[str],
    render: Callable[..., Rendered],
    how: Mapping[str, Any],
) -> BudgetCheck:
    """A check with the oracle. hypothesis makes its examples small by itself."""
    return BudgetCheck(
        prompt,
        props,
        must_keep=must_keep,
        allow_too_long=allow_too_long,
        skip=skip,
        how=how,
        renderer=render,
        more=DEFINITION,
        reduce=not currently_in_test_context(),
    )


def _how(
    tokenizer: object,
    model: str | None,
    chat_format: ChatFormat | None,
    last_message_incomplete: bool,  # noqa: FBT001
    pair_tools: bool,  # noqa: FBT001
) -> dict[str, Any]:
    """The arguments of ``render`` that are not what they are without being given."""
    given: dict[str, Any] = {"tokenizer": tokenizer, "model": model, "chat_format": chat_format}
    given = {name: value for name, value in given.items() if value is not None}
    if last_message_incomplete:
        given["last_message_incomplete"] = True
    if not pair_tools:
        given["pair_tools"] = False
    return given


def only_limit() -> int | None:
    """The limit of pytest's option ``--priompt-limit``, in tokens; None where it is not given."""
    plugin = sys.modules.get("_priompt_pytest")
    limits: list[int | None] = getattr(plugin, "LIMITS", [])
    return limits[-1] if limits else None
