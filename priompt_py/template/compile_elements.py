"""Elements and component calls: their attributes become arguments, errors of the tags get a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from priompt_py.author.children import is_mapping
from priompt_py.author.element_table import ELEMENTS_BY_NAME, ElementInfo
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, TemplateError
from priompt_py.model.elements import Excerpt
from priompt_py.template.bounds import Fault
from priompt_py.template.compile import (
    Content,
    Names,
    Step,
    Unit,
    compile_content,
    evaluate_expression,
    one_alternative,
)
from priompt_py.template.compile_attributes import DATA, MISSING, charge, constant_of, number_of, value_of
from priompt_py.template.evaluate import Run
from priompt_py.template.nodes import Pending, Tail, around_each, is_nothing, settle
from priompt_py.template.source import Source, near, one_line
from priompt_py.template.syntax import Attribute, Element, Spread
from priompt_py.template.vocabulary import MESSAGES, NUMBER_ARGUMENTS, known_attributes

__all__ = ["compile_component", "compile_element", "constant_problem"]


# ------------------------------------------------------------------------------------------ elements


def compile_element(unit: Unit, node: Element, *, level: int, tail: bool) -> Step:
    """The step that makes an element of the table."""
    info = ELEMENTS_BY_NAME[node.name]
    opened = _opener(unit, node, info)
    around = unit.layout.around.get(id(node))
    if info.is_void:

        def void(run: Run, names: Names, out: list[Any]) -> None:
            made = [opened(run, names)]
            if isinstance(made[0], Excerpt):
                _take(unit, run, node, len(made[0].pieces))
            if around is not None:  # an excerpt that is an alternative
                made = around_each(made, *around) if tail else settle(around_each(made, *around))
            out.extend(made)

        return void
    is_message = node.name in MESSAGES
    content = compile_content(
        unit,
        node.children,
        level=level + 1,
        at=node.start,
        is_closed=is_message,
        in_first=node.name in ("first", "fallback"),
        tail=tail and not is_message,
    )
    if around is None and not tail:
        return _plain(unit, node, opened, content)
    return _careful(unit, node, opened, content, around, tail=tail)


def _plain(unit: Unit, node: Element, opened: Callable[[Run, Names], Any], content: Content) -> Step:
    def step(run: Run, names: Names, out: list[Any]) -> None:
        element = opened(run, names)
        try:
            out.append(element[content.nodes(run, names)])
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise _refused(unit, run, node, error) from error

    return step


def _careful(
    unit: Unit,
    node: Element,
    opened: Callable[[Run, Names], Any],
    content: Content,
    around: tuple[str, str] | None,
    *,
    tail: bool,
) -> Step:
    """The same for an element that has a line to itself, or that may be the end of closed content."""
    before, after = around or ("", "")
    has_alternatives = node.name in ("first", "fallback")

    def step(run: Run, names: Names, out: list[Any]) -> None:
        element = opened(run, names)
        children = content.nodes(run, names)
        if before or after:
            if has_alternatives:
                children = around_each(children, before, after)
            elif not all(map(is_nothing, children)):
                if before:
                    children.insert(0, before)
                if after:
                    children.append(Tail(after))

        def make(given: list[Any]) -> Any:
            try:
                return element[given]
            except (ArgumentTypeError, ArgumentValueError) as error:
                raise _refused(unit, run, node, error) from error

        if tail and any(type(child) is Tail or type(child) is Pending for child in children):
            out.append(Pending(make, children, has_alternatives))
        else:
            out.append(make(settle(children)))

    return step


def _opener(unit: Unit, node: Element, info: ElementInfo) -> Callable[[Run, Names], Any]:
    """The function that gives the element with its arguments, without children."""
    numbers = NUMBER_ARGUMENTS[node.name]
    given, constants = _constants(unit.source, node)
    if len(constants) == len(given):
        return _constant_opener(unit, node, info, constants)
    parts: list[tuple[str, Any, Attribute | Spread]] = []
    for one in given:
        if isinstance(one, Spread):
            parts.append(("", evaluate_expression(unit, one.expression), one))
        elif one.name not in constants:
            parts.append((one.name, value_of(unit, one), one))
    has_spread = any(isinstance(one, Spread) for one in given)
    make = info.make

    def opened(run: Run, names: Names) -> Any:
        arguments = dict(constants)
        for name, evaluate, one in parts:
            if name:
                value = evaluate(run, names)
                if type(value) in DATA:
                    charge(unit, run, value, one)
                arguments[name] = number_of(value) if type(value) is str and name in numbers else value
            else:
                value = evaluate(run, names)
                charge(unit, run, value, one)
                _spread_into(unit, run, node, one, value, arguments, given)
        if node.name == "excerpt" and isinstance(arguments.get("text"), str):
            _take(unit, run, node, len(arguments["text"]) // 4)  # may be cut into half as many pieces
        if has_spread:
            _check_complete(unit, run, node, info, arguments)
        try:
            return make(**arguments)
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise _refused(unit, run, node, error) from error

    return opened


def _take(unit: Unit, run: Run, node: Element, steps: int) -> None:
    """Take the pieces of an excerpt of the budget: each is what a scope is elsewhere."""
    try:
        run.budget.step(steps)
    except Fault as fault:
        raise unit.source.error(node.start, fault.message, stack=run.stack) from None


def _constants(source: Source, node: Element) -> tuple[list[Attribute | Spread], dict[str, Any]]:
    """The attributes that are arguments, and the values of those that are always the same."""
    numbers = NUMBER_ARGUMENTS[node.name]
    given = [one for one in node.attributes if not (isinstance(one, Attribute) and one.name == "whitespace")]
    constants = {
        one.name: number_of(value) if one.name in numbers else value
        for one in given
        if isinstance(one, Attribute) and (value := constant_of(source, one)) is not MISSING
    }
    return given, constants


def constant_problem(source: Source, node: Element) -> tuple[int, str] | None:
    """Where a tag of the table, whose arguments are all written out, has wrong ones, and what is wrong."""
    given, constants = _constants(source, node)
    if len(constants) == len(given):
        try:
            ELEMENTS_BY_NAME[node.name].make(**constants)
        except (ArgumentTypeError, ArgumentValueError) as error:
            return _problem(node, error)
    return None


def _constant_opener(
    unit: Unit, node: Element, info: ElementInfo, constants: dict[str, Any]
) -> Callable[[Run, Names], Any]:
    made: list[Any] = []

    def opened(run: Run, _names: Names) -> Any:
        if not made:
            try:
                made.append(info.make(**constants))
            except (ArgumentTypeError, ArgumentValueError) as error:
                raise _refused(unit, run, node, error) from error
        return made[0]

    return opened


def _spread_into(
    unit: Unit,
    run: Run,
    node: Element,
    spread: Any,
    value: Any,
    arguments: dict[str, Any],
    given: list[Attribute | Spread],
) -> None:
    """Take the attributes of a spread; one that is given already is an error."""
    expression = spread.expression
    if not is_mapping(value):
        raise unit.error(
            run, Fault(f"a spread needs a mapping of attributes, got {type(value).__name__}", 0), expression
        )
    written = {one.name for one in given if isinstance(one, Attribute)}
    is_element = node.name in ELEMENTS_BY_NAME
    for name, item in value.items():
        if not isinstance(name, str):
            raise unit.error(
                run, Fault(f"the names of attributes are texts, got {type(name).__name__}", 0), expression
            )
        if name in written or name in arguments:
            raise unit.error(run, Fault(f"the attribute {one_line(name)} is given twice", 0), expression)
        if is_element and name not in ELEMENTS_BY_NAME[node.name].by_name:
            hint = (
                ": it is written in the tag itself"
                if name in known_attributes(node.name)
                else near(name, ELEMENTS_BY_NAME[node.name].by_name)
            )
            raise unit.error(
                run, Fault(f"<{node.name}> takes no attribute {one_line(name)}{hint}", 0), expression
            )
        arguments[name] = number_of(item) if is_element and name in NUMBER_ARGUMENTS[node.name] else item


def _check_complete(
    unit: Unit, run: Run, node: Element, info: ElementInfo, arguments: dict[str, Any]
) -> None:
    missing = [one.name for one in info.arguments if one.required and one.name not in arguments]
    if missing:
        raise unit.source.error(node.start, f"<{node.name}> needs {' and '.join(missing)}", stack=run.stack)


def _refused(unit: Unit, run: Run, node: Element, error: Exception) -> TemplateError:
    """The error of a tag, with the place of the attribute that it is about."""
    at, message = _problem(node, error)
    return unit.source.error(at, message, stack=run.stack)


def _problem(node: Element, error: Exception) -> tuple[int, str]:
    message = str(error)
    tag = ELEMENTS_BY_NAME[node.name].tag
    message = message.replace(f"{tag}()", f"<{node.name}>")
    argument = str(vars(error).get("argument", "")).partition("[")[0].partition(".")[0]
    attribute = node.attribute(argument) if argument else None
    return node.start if attribute is None else attribute.start, message


# ------------------------------------------------------------------------------------------ components


def compile_component(unit: Unit, node: Element, *, level: int, in_first: bool, tail: bool) -> Step:
    """The step that calls a component."""
    content = None
    if node.children:
        content = compile_content(unit, node.children, level=level + 1, at=node.start, is_closed=True)
    parts: list[tuple[str, Any, Attribute | Spread]] = []
    for one in node.attributes:
        if isinstance(one, Spread):
            parts.append(("", evaluate_expression(unit, one.expression), one))
        else:
            parts.append((one.name, value_of(unit, one), one))
    given = list(node.attributes)
    around = unit.layout.around.get(id(node))
    call = unit.component(node.name)

    def step(run: Run, names: Names, out: list[Any]) -> None:
        props: dict[str, Any] = {}
        for name, evaluate, one in parts:
            if name:
                props[name] = evaluate(run, names)
            else:
                _spread_into(unit, run, node, one, evaluate(run, names), props, given)
        children = [] if content is None else content.nodes(run, names)
        run.depth += level + 1
        found = call(run, props, children, node)
        run.depth -= level + 1
        if in_first:
            found = one_alternative(found)
            if around is not None:
                found = around_each(found, *around) if tail else settle(around_each(found, *around))
        out.extend(found)

    return step
