"""The tags: ``tag(props)[children]``.

A tag is the element without props and children; calling it gives the element with props, and
``[...]`` gives the element with children, which takes no more. So ``scope``, ``scope(p=5)``,
``scope["text"]`` and ``scope(p=5)["text"]`` are all nodes, and each can be used again and again.
Props and children are given once each: what was called can't be called again.
Tags that need a prop (``isolate``, ``empty``, …) are functions that return the element.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Never

from priompt_py.author.calls import explained, refuse_text
from priompt_py.author.checks import (
    callable_or_none,
    check_priority,
    limit_spec,
    one_of_priorities,
    text_or_none,
    whole_number,
)
from priompt_py.author.children import place, spread
from priompt_py.author.settings import Callback, capture, config
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import (
    CacheBreak,
    Element,
    Empty,
    Fallback,
    First,
    Isolate,
    LineBreak,
    Max,
    Node,
    Number,
    Rule,
    Scope,
    TokenBreak,
)
from priompt_py.model.values import short_repr

__all__ = [
    "at_most",
    "br",
    "cache_break",
    "capture",
    "config",
    "empty",
    "fallback",
    "first",
    "hr",
    "isolate",
    "scope",
    "token_break",
]

_new = object.__new__


class OpenScope(Scope):
    """A scope that waits for its children."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> Scope:
        element = _new(Scope)
        given: Any = children  # to pyright `type(x) is str` could be true of a function
        if type(given) is str and given.isascii():
            element.children = (given,)
        else:
            element.children = spread(given, self)
        element.p = self.p
        element.prel = self.prel
        element.key = self.key
        element.name = self.name
        element.on_include = self.on_include
        element.on_eject = self.on_eject
        return element


class ScopeTag(OpenScope):
    """``scope``: the unit of priority, in or out with its content."""

    __slots__ = ()

    def __call__(
        self,
        *text: Never,
        p: Number | None = None,
        prel: Number | None = None,
        name: str | None = None,
        key: str | None = None,
        on_include: Callback | None = None,
        on_eject: Callback | None = None,
    ) -> OpenScope:
        """A scope of priority ``p``, or ``prel`` above its parent's (0 when neither is given).

        ``name`` and ``key`` are labels. ``on_include`` and ``on_eject`` are called once per
        render, when it is settled whether the scope is in; a callback that can take one
        positional argument gets the decision. Raises ArgumentTypeError or ArgumentValueError.
        """
        # This is the hottest line of building a prompt: exact ints pass with one test.
        if text:
            raise refuse_text("scope", text)
        if p is not None:
            if type(p) is not int:
                check_priority("scope", "p", p)
            if prel is not None:
                one_of_priorities("scope", p, prel)
        elif prel is not None and type(prel) is not int:
            check_priority("scope", "prel", prel)
        element = _new(OpenScope)
        element.children = ()
        element.p = p
        element.prel = prel
        if name is None and key is None and on_include is None and on_eject is None:
            element.name = element.key = element.on_include = element.on_eject = None
        else:
            element.name = text_or_none("scope", "name", name)
            element.key = text_or_none("scope", "key", key)
            element.on_include = callable_or_none("scope", "on_include", on_include)
            element.on_eject = callable_or_none("scope", "on_eject", on_eject)
        return element


ScopeTag.__call__.__qualname__ = "scope"  # so Python's own words for a wrong argument name it


class OpenFirst(First):
    """A first that waits for its alternatives."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> First:
        return First(
            children=spread(children, self),
            name=self.name,
            key=self.key,
            on_include=self.on_include,
            on_eject=self.on_eject,
        )


class FirstTag(OpenFirst):
    """``first``: its children are alternatives; the first eligible one is in, the rest are out."""

    __slots__ = ()

    @explained("first")
    def __call__(
        self,
        *,
        name: str | None = None,
        key: str | None = None,
        on_include: Callback | None = None,
        on_eject: Callback | None = None,
    ) -> OpenFirst:
        """A first with labels and callbacks. The preferred alternative needs the lower priority."""
        return OpenFirst(
            name=text_or_none("first", "name", name),
            key=text_or_none("first", "key", key),
            on_include=callable_or_none("first", "on_include", on_include),
            on_eject=callable_or_none("first", "on_eject", on_eject),
        )


class OpenFallback(Fallback):
    """A fallback that waits for its alternatives."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> Fallback:
        kids = spread(children, self)
        for index, kid in enumerate(kids):
            if isinstance(kid, Element) and not (kid.p is None and kid.prel is None):
                shown = f"prel={short_repr(kid.prel)}" if kid.p is None else f"p={short_repr(kid.p)}"
                raise ArgumentValueError(
                    f"{place(self, index)}: an alternative of a fallback ranks by its place, got {shown}; "
                    "drop it, or use first with scopes"
                )
        return Fallback(children=kids, p=self.p, prel=self.prel, name=self.name, key=self.key)


class FallbackTag(OpenFallback):
    """``fallback``: alternatives, best first, that rank themselves."""

    __slots__ = ()

    @explained("fallback")
    def __call__(
        self,
        *,
        p: Number | None = None,
        prel: Number | None = None,
        name: str | None = None,
        key: str | None = None,
    ) -> OpenFallback:
        """A scope around a first. Alternative i of n (0-based) stands at ``prel = i - (n - 1)``, so
        the last one is in as long as the fallback is; one with its own ``p`` or ``prel`` is an error."""
        one_of_priorities("fallback", p, prel)
        return OpenFallback(
            p=p,
            prel=prel,
            name=text_or_none("fallback", "name", name),
            key=text_or_none("fallback", "key", key),
        )


class OpenIsolate(Isolate):
    """An isolate that waits for its children."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> Isolate:
        return Isolate(
            children=spread(children, self),
            token_limit=self.token_limit,
            p=self.p,
            prel=self.prel,
            key=self.key,
        )


class OpenMax(Max):
    """A max that waits for its children."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> Max:
        return Max(
            children=spread(children, self),
            token_limit=self.token_limit,
            p=self.p,
            prel=self.prel,
            key=self.key,
        )


@explained("isolate")
def isolate(
    *, token_limit: int | str, p: Number | None = None, prel: Number | None = None, key: str | None = None
) -> OpenIsolate:
    """Content rendered by itself under ``token_limit``: tokens, or ``"N%"``, ``"N% + M"``,
    ``"N% - M"`` of the limit of the nearest isolate or max around it, else of the render."""
    one_of_priorities("isolate", p, prel)
    return OpenIsolate(
        token_limit=limit_spec("isolate", token_limit),
        p=p,
        prel=prel,
        key=text_or_none("isolate", "key", key),
    )


@explained("at_most")
def at_most(
    *, token_limit: int | str, p: Number | None = None, prel: Number | None = None, key: str | None = None
) -> OpenMax:
    """A ceiling of ``token_limit`` (as for ``isolate``) on the tokens of its content, whose scopes
    stay part of the one order of priorities. Templates and JSON call it ``max``."""
    one_of_priorities("at_most", p, prel)
    return OpenMax(
        token_limit=limit_spec("at_most", token_limit),
        p=p,
        prel=prel,
        key=text_or_none("at_most", "key", key),
    )


@explained("empty", takes_children=False)
def empty(
    *,
    tokens: int | Callable[..., int | Awaitable[int]],
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> Empty:
    """Reserves ``tokens`` tokens and renders nothing. A function gets ``count(text)`` and returns
    the number; it may be async, and is called once per occurrence per render."""
    one_of_priorities("empty", p, prel)
    if not callable(tokens):
        tokens = whole_number("empty", "tokens", tokens)
    return Empty(tokens=tokens, p=p, prel=prel, key=text_or_none("empty", "key", key))


class LineBreakTag(LineBreak):
    r"""``br``: a line feed, with a token break after it. For a plain line feed write ``"\n"``."""

    __slots__ = ()

    @explained("br", takes_children=False)
    def __call__(
        self, *, p: Number | None = None, prel: Number | None = None, key: str | None = None
    ) -> LineBreak:
        """The line break with a priority or a label."""
        one_of_priorities("br", p, prel)
        return LineBreak(p=p, prel=prel, key=text_or_none("br", "key", key))


class TokenBreakTag(TokenBreak):
    """``token_break``: nothing to see; tokens never merge across it."""

    __slots__ = ()

    @explained("token_break", takes_children=False)
    def __call__(
        self, *, p: Number | None = None, prel: Number | None = None, key: str | None = None
    ) -> TokenBreak:
        """The token break with a priority or a label."""
        one_of_priorities("token_break", p, prel)
        return TokenBreak(p=p, prel=prel, key=text_or_none("token_break", "key", key))


class RuleTag(Rule):
    """``hr``: a horizontal rule between blank lines."""

    __slots__ = ()

    @explained("hr", takes_children=False)
    def __call__(
        self, *, p: Number | None = None, prel: Number | None = None, key: str | None = None
    ) -> Rule:
        """The rule with a priority or a label."""
        one_of_priorities("hr", p, prel)
        return Rule(p=p, prel=prel, key=text_or_none("hr", "key", key))


class CacheBreakTag(CacheBreak):
    """``cache_break``: a mark for prefix caching; renders nothing."""

    __slots__ = ()

    @explained("cache_break", takes_children=False)
    def __call__(
        self, *, p: Number | None = None, prel: Number | None = None, key: str | None = None
    ) -> CacheBreak:
        """The mark with a priority or a label."""
        one_of_priorities("cache_break", p, prel)
        return CacheBreak(p=p, prel=prel, key=text_or_none("cache_break", "key", key))


scope = ScopeTag()
first = FirstTag()
fallback = FallbackTag()
br = LineBreakTag()
token_break = TokenBreakTag()
hr = RuleTag()
cache_break = CacheBreakTag()
