"""From syntax to functions: a template is compiled once, each call evaluates it with props."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from priompt_py.author.children import spread
from priompt_py.errors import ArgumentTypeError, PromptError
from priompt_py.model.elements import Element as ModelElement
from priompt_py.model.elements import Scope
from priompt_py.template.advice import refused
from priompt_py.template.bounds import Fault
from priompt_py.template.entities import decode
from priompt_py.template.evaluate import Evaluate, Run, compile_expression
from priompt_py.template.expressions import size_of
from priompt_py.template.layout import Layout
from priompt_py.template.nodes import Tail, around_each, settle, trim_end
from priompt_py.template.source import Source
from priompt_py.template.syntax import (
    Attribute,
    Comment,
    Element,
    Expression,
    Insertion,
    Quoted,
    Spread,
    TemplateNode,
    Text,
)
from priompt_py.template.vocabulary import MESSAGES, is_component

if TYPE_CHECKING:
    from priompt_py.errors import TemplateError

__all__ = ["Content", "Names", "Unit", "compile_content", "evaluate_expression"]

Names: TypeAlias = dict[str, Any]
Step: TypeAlias = "Callable[[Run, Names, list[Any]], None]"


@attrs.frozen(eq=False)
class Unit:
    """What the compiler knows of the template at hand: its source and layout, and what a component's name means.

    ``component`` gives the function that calls a component: of the run, the props, the children and the place.
    """

    source: Source
    layout: Layout
    component: Callable[[str], Callable[[Run, dict[str, Any], list[Any], Element], list[Any]]]

    def error(self, run: Run, fault: Fault, expression: Expression) -> TemplateError:
        """The error of an expression that can't be evaluated."""
        at = expression.start + (fault.at or 0)
        return self.source.error(min(at, len(self.source.text)), fault.message, stack=run.stack)


@attrs.define(slots=True, eq=False)
class Content:
    """What stands in an element: ``steps`` are texts and functions; ``cost`` and ``size`` are what they take of the
    budget: steps, and characters of literal text."""

    unit: Unit
    steps: list[str | Step]
    cost: int
    size: int
    has_let: bool
    at: int
    level: int
    is_closed: bool

    def into(self, run: Run, names: Names, out: list[Any]) -> None:
        """Evaluate, and put the nodes into ``out``."""
        budget = run.budget
        budget.steps -= self.cost
        if budget.steps < 0:
            message = f"the template takes more than {budget.bounds.steps:,} steps"
            raise self.unit.source.error(self.at, message, stack=run.stack)
        budget.text -= self.size
        if budget.text < 0:
            message = f"the template makes more than {budget.bounds.text:,} characters"
            raise self.unit.source.error(self.at, message, stack=run.stack)
        if self.has_let:
            names = dict(names)
        for step in self.steps:
            if isinstance(step, str):
                out.append(step)
            else:
                step(run, names, out)

    def nodes(self, run: Run, names: Names) -> list[Any]:
        """Evaluate; of closed content the end is trimmed and all is settled."""
        out: list[Any] = []
        self.into(run, names, out)
        if self.is_closed:
            trim_end(out)
            return settle(out)
        return out


def evaluate_expression(unit: Unit, expression: Expression) -> Callable[[Run, Names], Any]:
    """The function that evaluates an expression, with errors that know their place."""
    evaluate: Evaluate = compile_expression(expression.root)

    def positioned(run: Run, names: Names) -> Any:
        try:
            return evaluate(run, names)
        except Fault as fault:
            raise unit.error(run, fault, expression) from None
        except RecursionError:
            raise unit.error(run, Fault("this is nested too deeply"), expression) from None
        except Exception as error:
            _note_place(unit, run, error, expression)
            raise

    return positioned


def _note_place(unit: Unit, run: Run, error: Exception, expression: Expression) -> None:
    """Note where a registered function was called that raised ``error``."""
    failed, run.failed = run.failed, None
    if failed is None or failed[0] is not error:
        return
    place = unit.source.location(min(expression.start + failed[2], len(unit.source.text)))
    note = f"in {failed[1]}() at {place}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def compile_content(
    unit: Unit,
    nodes: tuple[TemplateNode, ...],
    *,
    level: int,
    at: int,
    is_closed: bool = False,
    in_first: bool = False,
    tail: bool = False,
) -> Content:
    """Compile what stands in an element ``level`` elements deep; ``tail``: it may be the end of closed content."""
    steps: list[str | Step] = []
    cost = 1
    size = 0
    may_end = is_closed or tail
    # From the end, since that tells what may be the last.
    for node in reversed(nodes):
        is_last = may_end or (in_first and tail)
        if isinstance(node, Text):
            text = unit.layout.texts[id(node)]
            if in_first and not text.strip(" \t\n"):
                continue
            if text:
                can_lose_break = is_last and text.endswith("\n") and id(node) not in unit.layout.kept
                text = unit.source.literal(text if node.raw else decode(text))
                size += len(text)
                steps.append(Tail(text) if can_lose_break else text)
                may_end = False
            cost += 1
        elif isinstance(node, Insertion):
            steps.append(_insertion(unit, node, in_first=in_first, tail=is_last))
            cost += 1 + size_of(node.expression.root)
        elif not isinstance(node, Comment):
            step = _element(unit, node, level=level, in_first=in_first, tail=is_last)
            if step is not None:
                steps.append(step)
                cost += 4 + sum(1 + size_of(one.root) for one in expressions_of(node))
                size += sum(map(len, _texts_of(node)))
            if node.name in MESSAGES or node.name in ("br", "hr", "image", "part"):
                may_end = False
    steps.reverse()
    has_let = any(isinstance(node, Element) and node.name == "let" for node in nodes)
    return Content(unit, steps, cost, size, has_let, at, level, is_closed)


def _element(unit: Unit, node: Element, *, level: int, in_first: bool, tail: bool) -> Step | None:
    from priompt_py.template.compile_control import compile_for, compile_if, compile_let
    from priompt_py.template.compile_elements import compile_component, compile_element

    match node.name:
        case "import" | "component":
            return None
        case "let":
            return compile_let(unit, node)
        case "for":
            return compile_for(unit, node, level=level, in_first=in_first, tail=tail)
        case "if":
            return compile_if(unit, node, level=level, in_first=in_first, tail=tail)
        case "children":
            return _children(unit, node, in_first=in_first, tail=tail)
        case "raw":
            return _raw(unit, node, level=level, in_first=in_first, tail=tail)
        case name if is_component(name):
            return compile_component(unit, node, level=level, in_first=in_first, tail=tail)
        case _:
            return compile_element(unit, node, level=level, tail=tail)


def expressions_of(node: Element) -> Iterator[Expression]:
    """The expressions in a tag's attributes."""
    for one in node.attributes:
        if isinstance(one, Spread):
            yield one.expression
        elif isinstance(one.value, Expression):
            yield one.value
        elif isinstance(one.value, Quoted):
            yield from (part for part in one.value.parts if isinstance(part, Expression))


def _texts_of(node: Element) -> Iterator[str]:
    """The literal texts in a tag's quoted attributes."""
    for one in node.attributes:
        if isinstance(one, Attribute) and isinstance(one.value, Quoted):
            yield from (part for part in one.value.parts if isinstance(part, str))


# ------------------------------------------------------------------------------------------ text


def _insertion(unit: Unit, node: Insertion, *, in_first: bool, tail: bool) -> Step:
    evaluate = evaluate_expression(unit, node.expression)
    around = unit.layout.around.get(id(node))
    expression = node.expression

    def step(run: Run, names: Names, out: list[Any]) -> None:
        value = evaluate(run, names)
        if type(value) is str:
            try:
                run.budget.characters(len(value))
            except Fault as fault:
                raise unit.error(run, fault, expression) from None
            given: list[Any] = [value]
        elif value is None or isinstance(value, bool):
            given = [value]
        else:
            given = flatten(unit, run, value, expression)
        if around is not None and in_first:
            given = around_each(given, *around) if tail else settle(around_each(given, *around))
        out.extend(given)

    return step


def flatten(unit: Unit, run: Run, value: Any, expression: Expression) -> list[Any]:
    """The nodes of a value that is no plain text: lists are spread, within the bounds."""
    found: list[Any] = []
    stack: list[Iterator[Any]] = [iter((value,))]
    budget = run.budget
    other: Any = None
    try:
        while stack:
            for item in stack[-1]:
                budget.step()
                if isinstance(item, str):
                    budget.characters(len(item))
                    found.append(item)
                elif item is None or isinstance(item, bool):
                    found.append(item)
                elif isinstance(item, ModelElement):
                    run.take((item,))
                    found.append(item)
                elif type(item) is int:
                    found.append(budget.whole(item))
                elif isinstance(item, (list, tuple, Iterator)):
                    if len(stack) > 100:
                        raise Fault("lists are nested more than 100 deep")
                    stack.append(iter(item))  # pyright: ignore[reportUnknownArgumentType]
                    break
                else:
                    other = item
                    found.extend(spread(item, "the value"))
            else:
                stack.pop()
    except Fault as fault:
        raise unit.error(run, fault, expression) from None
    except ArgumentTypeError as error:
        raise unit.error(run, Fault(refused(other, "a prompt")), expression) from error
    except PromptError as error:
        message = str(error).partition(": ")[2] or str(error)
        raise unit.error(run, Fault(message), expression) from error
    return found


def _raw(unit: Unit, node: Element, *, level: int, in_first: bool, tail: bool) -> Step:
    from priompt_py.template.compile_control import wrapped_in_line

    content = compile_content(unit, node.children, level=level, at=node.start, in_first=in_first, tail=tail)
    return wrapped_in_line(content.into, unit.layout.around.get(id(node)), in_first=in_first, tail=tail)


def _children(unit: Unit, node: Element, *, in_first: bool, tail: bool) -> Step:
    around = unit.layout.around.get(id(node))

    def step(run: Run, _names: Names, out: list[Any]) -> None:
        given = list(run.children)
        try:
            run.take(given)
        except Fault as fault:
            message = f"the children stand too often in it: {fault.message}"
            raise unit.source.error(node.start, message, stack=run.stack) from None
        if in_first:
            given = one_alternative(given)
            if around is not None:
                given = around_each(given, *around) if tail else settle(around_each(given, *around))
        out.extend(given)

    return step


def one_alternative(nodes: list[Any]) -> list[Any]:
    """What a component gave, as one alternative."""
    some = [node for node in nodes if not (node is None or isinstance(node, bool))]
    return some if len(some) < 2 else [Scope(children=tuple(some))]
