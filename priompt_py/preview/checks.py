"""Checks of a prompt's budget: whether it keeps to its limits, and to what rendering promises.

Needs nothing but this package: ``priompt test`` runs them, and :mod:`priompt_py.testing` offers them with the naive
oracle on top.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, BudgetError
from priompt_py.face.render import render
from priompt_py.face.rendered import Rendered
from priompt_py.face.settings import check_limit
from priompt_py.model.code import code_of, value_code
from priompt_py.model.elements import Element
from priompt_py.preview.declared import declared, inner_prompt
from priompt_py.preview.picture import changed, picture
from priompt_py.preview.properties import PROPERTIES
from priompt_py.preview.reduce import reduced, shown
from priompt_py.preview.settle import Made, Settled, amade, made, settled
from priompt_py.preview.squeeze import counter, edges
from priompt_py.preview.trial import Moment, Property, Renderer, Trial, Try
from priompt_py.template.source import near

__all__ = ["BudgetCheck", "acheck_budget", "check_budget", "checked_limits", "name_of_prompt"]


def _looked_at_elsewhere(now: Moment) -> None:
    """For what is no matter of limits."""


PROPS = Property("props", "a prompt changes nothing in its props", _looked_at_elsewhere)
SAME = Property("same", "the same props give the same prompt", _looked_at_elsewhere)

MOST_LIMITS = 50  # limits that are all tried; of more, those where the prompt changes
_MOST_NODES = 500  # nodes of a tree that is made smaller
_MOST_LINES = 20  # of a prompt that is shown as it is


def check_budget(
    prompt: Any,
    props: Mapping[str, Any] | None = None,
    *,
    token_limits: int | Iterable[int] | None = None,
    must_keep: Iterable[str] | None = None,
    allow_too_long: bool | None = None,
    skip: Collection[str] = (),
    **how: Any,
) -> dict[int, Rendered | None]:
    """Check a prompt at each limit, as :func:`priompt_py.testing.check_budget` does, without its oracle."""
    check = BudgetCheck(prompt, props, must_keep=must_keep, allow_too_long=allow_too_long, skip=skip, how=how)
    return check.run(token_limits)


async def acheck_budget(
    prompt: Any,
    props: Mapping[str, Any] | None = None,
    *,
    token_limits: int | Iterable[int] | None = None,
    must_keep: Iterable[str] | None = None,
    allow_too_long: bool | None = None,
    skip: Collection[str] = (),
    **how: Any,
) -> dict[int, Rendered | None]:
    """``check_budget`` for prompts that need the event loop that runs here."""
    check = BudgetCheck(prompt, props, must_keep=must_keep, allow_too_long=allow_too_long, skip=skip, how=how)
    return await check.arun(token_limits)


def name_of_prompt(prompt: Any) -> str:
    """What messages call a prompt: a function's name, a template's file, ``prompt`` for a node."""
    prompt = inner_prompt(prompt)
    for attribute in ("shown", "__name__"):
        name = getattr(prompt, attribute, None)
        if isinstance(name, str) and not isinstance(prompt, Element):
            return name
    return type(prompt).__name__ if callable(prompt) and not isinstance(prompt, Element) else "prompt"


def checked_limits(token_limits: int | Iterable[int] | None) -> Sequence[int] | None:
    """Limits in ascending order, each once; None where none are asked for. Raises as ``render`` does.

    A long range stays one, since it may be too long to be listed.
    """
    if token_limits is None:
        return None
    if isinstance(token_limits, (int, str)) or not isinstance(cast("object", token_limits), Iterable):
        return [check_limit(token_limits)]
    if isinstance(token_limits, range) and len(token_limits) > MOST_LIMITS:
        ends = [check_limit(limit) for limit in (token_limits[0], token_limits[-1])]
        return token_limits if ends[0] <= ends[1] else token_limits[::-1]
    found = sorted({check_limit(limit) for limit in token_limits})
    if not found:
        raise ArgumentValueError("token_limits needs a limit at least, got none")
    return found


Limits: TypeAlias = int | Iterable[int] | Callable[[Trial], list[int]] | None
"""What limits can be asked for: a function chooses some for a tree."""

Chosen: TypeAlias = Sequence[int] | Callable[[Trial], list[int]] | None


@attrs.define(eq=False, init=False)
class BudgetCheck:
    """One prompt and its props, to be checked.

    ``more`` are properties beside those of every check, ``renderer`` is what is to be checked, ``how`` are further
    arguments of ``render``; ``reduce``: whether to look for a smaller tree that breaks the same property.
    """

    prompt: Any
    name: str
    own_limits: tuple[int, ...]
    props: dict[str, Any]
    shown_props: str
    must_keep: tuple[str, ...]
    allow_too_long: bool | None
    skip: frozenset[str]
    how: dict[str, Any]
    renderer: Renderer
    properties: tuple[Property, ...]
    reduce: bool

    def __init__(
        self,
        prompt: Any,
        props: Mapping[str, Any] | None = None,
        *,
        must_keep: Iterable[str] | None = None,
        allow_too_long: bool | None = None,
        skip: Collection[str] = (),
        how: Mapping[str, Any] | None = None,
        renderer: Renderer = render,
        more: Sequence[Property] = (),
        reduce: bool = True,
    ) -> None:
        said = declared(prompt)
        self.name = name_of_prompt(prompt)
        self.prompt = inner_prompt(prompt)
        self.own_limits = said.token_limits
        self.props = _checked_props(props)
        self.shown_props = (
            value_code(self.props) if self.props else ""
        )  # as they are before the prompt can change them
        self.must_keep = said.must_keep if must_keep is None else _labels(must_keep)
        self.allow_too_long = allow_too_long
        self.properties = (*PROPERTIES, *more)
        self.skip = _skipped(skip, [PROPS, SAME, *self.properties])
        self.how = dict(how or {})
        if said.tokenizer is not None and self.how.get("tokenizer") is None and self.how.get("model") is None:
            self.how["tokenizer"] = said.tokenizer
        self.renderer = renderer
        self.reduce = reduce

    # ---------------------------------------------------------------------------------- running it

    def run(self, token_limits: Limits) -> dict[int, Rendered | None]:
        """What each limit gave; None where the prompt is too long, if that is allowed. Raises BudgetError."""
        __tracebackhide__ = True
        limits = self._asked_for(token_limits)
        before = picture(self.props, "the props")
        first = made(self.prompt, self.props)
        self._check_props(before)
        second = made(self.prompt, self.props) if self._can_be_made_again() else None
        return self._limits(first, second, limits)

    async def arun(self, token_limits: Limits) -> dict[int, Rendered | None]:
        """The same in the event loop that runs here."""
        __tracebackhide__ = True
        limits = self._asked_for(token_limits)
        before = picture(self.props, "the props")
        first = await amade(self.prompt, self.props)
        self._check_props(before)
        second = await amade(self.prompt, self.props) if self._can_be_made_again() else None
        return self._limits(first, second, limits)

    def _asked_for(self, token_limits: Limits) -> Chosen:
        if token_limits is not None and callable(token_limits):
            return token_limits
        return checked_limits(token_limits if token_limits is not None else self.own_limits or None)

    def _can_be_made_again(self) -> bool:
        return callable(self.prompt) and not isinstance(self.prompt, Element) and "same" not in self.skip

    def _check_props(self, before: Any) -> None:
        __tracebackhide__ = True
        place = changed(before, picture(self.props, "the props"))
        if place is not None and "props" not in self.skip:
            raise self._error(PROPS, None, f"the prompt changed {place}")

    def _limits(self, first: Made, second: Made | None, limits: Chosen) -> dict[int, Rendered | None]:
        __tracebackhide__ = True
        before = picture(first[0], "the prompt's tree")
        count = counter(self.how)
        tree = settled(first, count)
        if second is not None:
            one, other = shown(tree.children, most=10**9), shown(settled(second, count).children, most=10**9)
            if one != other:
                raise self._error(SAME, None, _parting(one, other))
        allow = limits is None if self.allow_too_long is None else self.allow_too_long
        trial = Trial(tree, self.renderer, self.how, self.must_keep, allow)
        found = self._tried(trial, limits)
        place = changed(before, picture(first[0], "the prompt's tree"))
        if place is not None and "tree" not in self.skip:
            tree_property = next(each for each in self.properties if each.name == "tree")
            raise self._error(tree_property, None, f"rendering changed {place}")
        return found

    def _tried(self, trial: Trial, limits: Chosen) -> dict[int, Rendered | None]:
        __tracebackhide__ = True
        found: dict[int, Rendered | None] = {}
        before: Try | None = None
        for limit in self._chosen(trial, limits):
            here = trial.at(limit, callbacks=True, source_map=True)
            for each in self.properties:
                if each.name in self.skip:
                    continue
                detail = each.broken(Moment(trial, before, here))
                if detail is not None:
                    raise self._shown_error(each, trial, before, here, detail)
            found[limit] = here.rendered
            before = here
        return found

    def _chosen(self, trial: Trial, limits: Chosen) -> Sequence[int]:
        """The limits to try: all that were asked for, or of many those around which the prompt changes."""
        if callable(limits):
            return limits(attrs.evolve(trial, renderer=render))
        if limits is not None and len(limits) <= MOST_LIMITS:
            return limits
        plain = attrs.evolve(trial, renderer=render)
        if limits is None:
            return edges(plain)
        some = limits if isinstance(limits, range) else frozenset(limits)
        around = edges(plain, limits[0], limits[-1])
        return sorted({limits[0], limits[-1], *(limit for limit in around if limit in some)})

    # ---------------------------------------------------------------------------------- telling of it

    def _shown_error(
        self, broken: Property, trial: Trial, before: Try | None, here: Try, detail: str
    ) -> BudgetError:
        tree, where = trial.tree, f"at a limit of {here.token_limit}"
        if self.reduce and not broken.by_limit and tree.nodes <= _MOST_NODES:
            tree = reduced(
                tree, lambda smaller: self._breaks(broken, attrs.evolve(trial, tree=smaller)) is not None
            )
            limit = self._breaks(broken, attrs.evolve(trial, tree=tree))
            if limit is None:  # it shows at the limits that were asked for alone
                tree = trial.tree
            else:
                where = f"at a limit of {limit}"
        limits = [
            *([] if before is None or broken.name != "growth" else [before.token_limit]),
            here.token_limit,
        ]
        return self._error(broken, here.token_limit, detail, limits=limits, tree=tree, where=where)

    def _breaks(self, broken: Property, trial: Trial) -> int | None:
        """The smallest limit at which a tree breaks a property."""
        before: Try | None = None
        for limit in edges(attrs.evolve(trial, renderer=render)):
            here = trial.at(limit, callbacks=True, source_map=True)
            if broken.broken(Moment(trial, before, here)) is not None:
                return limit
            before = here
        return None

    def _error(
        self,
        broken: Property,
        limit: int | None,
        detail: str,
        *,
        limits: list[int] | None = None,
        tree: Settled | None = None,
        where: str = "",
    ) -> BudgetError:
        at = "" if limit is None else f" at a limit of {limit}"
        call = self._call(limits)
        lines = [f"{self.name} breaks {broken.name!r}{at}: {detail}", f"  ({broken.promise})", f"  {call}"]
        example = None
        if tree is not None:
            example = shown(tree.children, indent="    ")
            if not broken.by_limit:
                lines += [f"  the smallest tree found that breaks it, {where}:", f"    {example}"]
            elif example.count("\n") < _MOST_LINES:
                lines += ["  its tree:", f"    {example}"]
            else:
                example = None
        return BudgetError(
            "\n".join(lines), broken=broken.name, token_limit=limit, detail=detail, call=call, example=example
        )

    def _call(self, limits: list[int] | None) -> str:
        """The code that repeats this check."""
        is_node = isinstance(self.prompt, Element) or not callable(self.prompt)
        if is_node:
            given = [code_of(self.prompt, most=200)]
        elif hasattr(self.prompt, "front_matter"):
            given = [f"load_template({self.name!r})"]
        else:
            given = [self.name]
        if self.shown_props:
            given.append(self.shown_props)
        if limits is not None:
            given.append(f"token_limits={limits}")
        if self.must_keep:
            given.append(f"must_keep={list(self.must_keep)}")
        given += [f"{name}={value_code(value)}" for name, value in self.how.items() if value is not None]
        return f"check_budget({', '.join(given)})"


def _checked_props(props: object) -> dict[str, Any]:
    if props is None:
        return {}
    if not isinstance(props, Mapping):
        raise ArgumentTypeError(f"check_budget() needs a mapping for props, got props={got(props)}")
    return dict(cast("Mapping[str, Any]", props))


def _labels(must_keep: object) -> tuple[str, ...]:
    if isinstance(must_keep, str) or not isinstance(must_keep, Iterable):
        raise ArgumentTypeError(
            f'check_budget() needs a list of labels for must_keep, as in ["question"], got must_keep={got(must_keep)}'
        )
    found = tuple(cast("Iterable[object]", must_keep))
    for label in found:
        if not isinstance(label, str):
            raise ArgumentTypeError(f"check_budget() needs labels for must_keep, got {got(label)}")
    return cast("tuple[str, ...]", found)


def _skipped(skip: object, properties: Sequence[Property]) -> frozenset[str]:
    names = [each.name for each in properties]
    if isinstance(skip, str) or not isinstance(skip, Collection):
        raise ArgumentTypeError(f"check_budget() needs a list of properties for skip, got skip={got(skip)}")
    for name in cast("Collection[object]", skip):
        if name not in names:
            hint = near(str(name), names) or f"; they are {', '.join(names)}"
            raise ArgumentValueError(f"check_budget() has no property {name!r} to skip{hint}")
    return frozenset(cast("Collection[str]", skip))


def _parting(one: str, other: str) -> str:
    """Where two trees, as code, part."""
    at = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    start = max(0, at - 20)
    cut = [
        f"{'…' if start else ''}{text[start : at + 30]}{'…' if at + 30 < len(text) else ''}"
        for text in (one, other)
    ]
    return f"one tree has {cut[0]!r} where the next one has {cut[1]!r}"
