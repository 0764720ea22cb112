"""``budget_test``: a prompt as a test of hypothesis, in one line."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast, overload

import attrs
import hypothesis
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, TemplateError
from priompt_py.face.render import render as priompt_render
from priompt_py.face.rendered import Rendered
from priompt_py.preview.checks import checked_limits, name_of_prompt
from priompt_py.preview.declared import declared, inner_prompt
from priompt_py.preview.registry import find_prompt
from priompt_py.preview.squeeze import edges
from priompt_py.preview.trial import Trial
from priompt_py.template.environment import load_template
from priompt_py.testing.checks import budget_check, only_limit
from priompt_py.testing.props import props_for

__all__ = ["BudgetTest", "budget_test"]

Props = dict[str, Any]

_OURS = ("rendered", "props", "token_limit")
"""What a decorated function can ask for besides fixtures."""


class BudgetTest(Protocol):
    """A test without arguments; called with a function it is a decorator, whose function sees every render."""

    __name__: str

    @overload
    def __call__(self) -> None: ...
    @overload
    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]: ...


def budget_test(
    prompt: Any,
    /,
    *,
    limits: int | Iterable[int] | SearchStrategy[int] | None = None,
    must_keep: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] | None = None,
    props: SearchStrategy[Props] | Mapping[str, Any] | None = None,
    fixtures: Iterable[str] = (),
    allow_too_long: bool | None = None,
    skip: Collection[str] = (),
    render: Callable[..., Rendered] = priompt_render,
    settings: hypothesis.settings | None = None,
    **how: Any,
) -> BudgetTest:
    """A test that draws props for a prompt and limits, and checks its budget: see :func:`check_budget`.

    ::

        test_chat = budget_test(chat, limits=range(500, 8_000), must_keep=["question"])


        @budget_test(chat, limits=range(500, 8_000), must_keep=["question"])
        def test_chat(rendered):
            assert rendered.messages[0].role == "system"

    As a decorator, it calls the function with each render (not where the prompt is too long, if that is allowed): of
    the parameters, ``rendered``, ``props`` and ``token_limit`` are given, all others are fixtures of pytest. The function may be async where a plugin of
    pytest runs async tests.

    ``prompt`` is a function, a component, a template, the path of one, a registered prompt or its id, or a node.
    ``limits`` are tokens: a number, a range, a list or a strategy; without it the prompt's own, else limits around
    which the prompt changes. ``props`` is a mapping of strategies and values by name, in the place of what is drawn by
    the type hints or the front matter (see ``props_for``), or one strategy for all props. ``fixtures`` are names of fixtures
    of pytest that are props of the same names. ``must_keep`` may be a function of the props. ``settings`` are
    hypothesis' (a test has no deadline unless they give one of their own). ``how`` are arguments of ``render``: ``tokenizer`` and so on.

    With pytest's option ``--priompt-limit`` that limit alone is tried. Raises ArgumentTypeError where no props can be
    drawn, as ``props_for`` does, and SourceError for an id that is not known.
    """
    prompt = _found(prompt)
    _check_kinds(props, fixtures, settings)
    borrowed = tuple(fixtures)
    given = props if not isinstance(props, Mapping) else dict(props)
    for name in borrowed:  # some strategy has to stand there until the fixture is known
        given = {**(given or {}), name: None} if not isinstance(given, SearchStrategy) else given
    strategy = given if isinstance(given, SearchStrategy) else props_for(prompt, **(given or {}))
    _check_how(how)
    keep = must_keep if callable(must_keep) else None
    check = budget_check(  # what is wrong with its arguments shows here, and not in the first example
        prompt,
        None,
        must_keep=None if callable(must_keep) else must_keep,
        allow_too_long=allow_too_long,
        skip=skip,
        render=render,
        how=how,
    )
    plan = _Plan(
        prompt=prompt,
        limits=limits if isinstance(limits, SearchStrategy) else checked_limits(limits),
        must_keep=check.must_keep if keep is None else keep,
        props=strategy,
        fixtures=borrowed,
        allow_too_long=allow_too_long,
        skip=tuple(skip),
        render=render,
        settings=settings,
        how=how,
        place=_caller(),
    )
    return plan.test()


def _caller() -> tuple[str, int] | None:
    """File and line of the code that called ``budget_test``."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


@attrs.frozen(eq=False, kw_only=True)
class _Plan:
    """What a test is made of."""

    prompt: Any
    limits: Sequence[int] | SearchStrategy[int] | None
    must_keep: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] | None
    props: SearchStrategy[Props]
    fixtures: tuple[str, ...]
    allow_too_long: bool | None
    skip: tuple[str, ...]
    render: Callable[..., Rendered]
    settings: hypothesis.settings | None
    how: dict[str, Any]
    place: tuple[str, int] | None

    def test(self) -> BudgetTest:
        """The test in its two uses."""
        name = f"test_{_identifier(name_of_prompt(self.prompt))}"
        alone = self.made_test(None, name)

        @functools.wraps(alone)
        def test(*arguments: Any, **fixtures: Any) -> Any:
            __tracebackhide__ = True
            # An object of a class of tests may be callable too: unittest's is.
            if len(arguments) == 1 and not fixtures and inspect.isroutine(arguments[0]):
                return self.decorated(arguments[0])
            return alone(**fixtures)  # without the object of a class of tests that it may stand in

        # One dictionary for both: what hypothesis and plugins of pytest write on the outer one holds inside.
        test.__dict__ = alone.__dict__
        shared: Any = test
        shared.__signature__ = inspect.signature(alone)
        return cast("BudgetTest", test)

    def decorated(self, function: Callable[..., Any]) -> Any:
        bare: Any = function
        if type(bare) in (staticmethod, classmethod):
            return type(bare)(self.made_test(bare.__func__, bare.__name__))
        return self.made_test(function, function.__name__)

    def made_test(self, function: Callable[..., Any] | None, name: str) -> Callable[..., Any]:
        """A test of hypothesis that calls ``function`` with what it asks for."""
        wanted = list(inspect.signature(function).parameters.values()) if function is not None else []
        own = [parameter.name for parameter in wanted if parameter.name in _OURS]
        wanted = [p for p in wanted if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        fixtures = [p.name for p in wanted if p.name not in _OURS and p.default is p.empty]

        names = list(dict.fromkeys([*fixtures, *self.fixtures, "props", "token_limits"]))

        def cases(
            values: tuple[Any, ...], named: dict[str, Any]
        ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
            """What to call ``function`` with for each render."""
            __tracebackhide__ = True
            arguments = (
                dict(zip(names, values, strict=False)) | named
            )  # hypothesis gives them by place, where it can
            drawn: Props = {**arguments["props"], **{each: arguments[each] for each in self.fixtures}}
            found = self.checked(drawn, arguments["token_limits"])
            passed = {each: arguments[each] for each in fixtures}
            return [
                ({**passed}, {"rendered": one, "props": drawn, "token_limit": limit})
                for limit, one in found.items()
                if one is not None
            ]

        async def arun(*values: Any, **named: Any) -> None:
            __tracebackhide__ = True
            assert function is not None
            for passed, ours in cases(values, named):
                await function(**passed, **{each: ours[each] for each in own})

        def run(*values: Any, **named: Any) -> None:
            __tracebackhide__ = True
            for passed, ours in cases(values, named):
                if function is not None:
                    function(**passed, **{each: ours[each] for each in own})

        made: Any = arun if inspect.iscoroutinefunction(function) else run
        if self.place is not None:  # reports show the line that made the test, and not this one
            file, line = self.place  # hypothesis shows the line after the first one
            made.__code__ = made.__code__.replace(co_filename=file, co_firstlineno=max(1, line - 1))
        if function is not None:
            functools.update_wrapper(made, function)
            del made.__wrapped__  # hypothesis and pytest would read its parameters
        else:
            made.__doc__ = f"The budget of {name_of_prompt(self.prompt)}."
            made.__module__ = _module_of(self.prompt)
        made.__name__ = name
        made.__qualname__ = name if function is None else function.__qualname__
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        made.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in names])
        test: Callable[..., Any] = hypothesis.given(props=self.props, token_limits=st.data())(made)
        return _marked(_patient(self.settings)(test))

    def checked(self, props: Props, data: st.DataObject) -> dict[int, Rendered | None]:
        """Draw limits for these props, and check the prompt at them."""
        __tracebackhide__ = True
        keep = self.must_keep(props) if callable(self.must_keep) else self.must_keep
        allow = self.allow_too_long
        if allow is None:
            allow = self.limits is None and not declared(self.prompt).token_limits
        check = budget_check(
            self.prompt,
            props,
            must_keep=keep,
            allow_too_long=allow,
            skip=self.skip,
            render=self.render,
            how=self.how,
        )
        limit = only_limit()

        def chosen(trial: Trial) -> list[int]:
            some = st.lists(self.around(trial), min_size=1, max_size=3, unique=True)
            return sorted(data.draw(some, "token_limits"))

        try:
            return check.run(chosen if limit is None else limit)
        except TemplateError as error:
            front = getattr(inner_prompt(self.prompt), "front_matter", None)
            if front is not None and not front.examples:
                error.add_note(
                    "its list, dict and any props were drawn with texts in them, since the front matter has no "
                    "examples; give it one, or budget_test(…, props={name: strategy})"
                )
            raise

    def around(self, trial: Trial) -> SearchStrategy[int]:
        """Limits that were asked for, most of them where the prompt changes."""
        if isinstance(self.limits, SearchStrategy):
            return self.limits
        limits = self.limits or declared(self.prompt).token_limits
        if not limits:
            found = edges(trial)
            return st.sampled_from(found) | st.integers(0, found[-1] + 10)
        if len(limits) <= 2:
            return st.sampled_from(limits)
        known = {limit for limit in edges(trial, limits[0], limits[-1]) if limit in limits}
        return st.sampled_from(sorted({*known, limits[0], limits[-1]})) | st.sampled_from(limits)


def _found(prompt: Any) -> Any:
    """A prompt, also by its id or by the path of a template."""
    if isinstance(prompt, os.PathLike) or (isinstance(prompt, str) and prompt.endswith(".priompt")):
        return load_template(cast("str", prompt))
    if isinstance(prompt, str):  # a text alone has nothing that could be tested
        return find_prompt(prompt)
    if inspect.isroutine(prompt) and prompt.__name__.startswith("test"):
        asks = [each for each in inspect.signature(prompt).parameters if each in _OURS]
        if asks:
            raise ArgumentTypeError(
                f"budget_test() needs the prompt that {prompt.__name__} is about: @budget_test(chat)"
            )
    return prompt


def _check_kinds(props: object, fixtures: object, settings: object) -> None:
    if props is not None and not isinstance(props, (Mapping, SearchStrategy)):
        raise ArgumentTypeError(
            "budget_test() needs strategies and values by name for props, or one strategy for all of them, "
            f"got props={got(props)}"
        )
    if isinstance(fixtures, str) or not isinstance(fixtures, Iterable):
        raise ArgumentTypeError(
            f'budget_test() needs a list of names for fixtures, as in ["index"], got fixtures={got(fixtures)}'
        )
    if settings is not None and not isinstance(settings, hypothesis.settings):
        raise ArgumentTypeError(
            "budget_test() needs settings of hypothesis, as in hypothesis.settings(max_examples=1_000), "
            f"got settings={got(settings)}"
        )


def _patient(given: hypothesis.settings | None) -> hypothesis.settings:
    """The settings of a test whose first example loads a vocabulary, and whose examples are judged by the oracle:
    without the deadline, where it was not asked for."""
    usual = hypothesis.settings()
    chosen = usual if given is None else given
    return hypothesis.settings(
        chosen,
        phases=[
            phase for phase in chosen.phases if phase is not hypothesis.Phase.explain
        ],  # it shows lines of ours
        deadline=None if chosen.deadline == usual.deadline else chosen.deadline,
        suppress_health_check={
            *chosen.suppress_health_check,
            hypothesis.HealthCheck.too_slow,
            hypothesis.HealthCheck.function_scoped_fixture,  # the test asks for them by name
        },
    )


def _marked(test: Callable[..., Any]) -> Callable[..., Any]:
    try:
        import pytest
    except ImportError:  # another runner of tests
        return test
    marked: Callable[..., Any] = pytest.mark.priompt_budget(test)
    return marked


def _identifier(name: str) -> str:
    return "".join(character if character.isalnum() else "_" for character in name)


def _module_of(prompt: Any) -> str:
    return str(getattr(inner_prompt(prompt), "__module__", None) or "priompt_py.testing")


_HOW = ("tokenizer", "model", "chat_format", "last_message_incomplete", "pair_tools")


def _check_how(how: Mapping[str, Any]) -> None:
    for name in how:
        if name not in _HOW:
            from priompt_py.template.source import near

            hint = near(name, [*_HOW, "limits", "must_keep", "props", "fixtures", "settings", "skip"])
            raise ArgumentTypeError(f"budget_test() takes no {name!r}{hint}")
