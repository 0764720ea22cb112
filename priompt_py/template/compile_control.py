"""``let``, ``if`` and ``for``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from priompt_py.template.bounds import Fault
from priompt_py.template.compile import Content, Names, Step, Unit, compile_content
from priompt_py.template.evaluate import Run
from priompt_py.template.nodes import Tail, around_each, is_nothing, settle
from priompt_py.template.syntax import Attribute, Element, Expression, Quoted, TemplateNode
from priompt_py.template.values import items_of, truth_of

__all__ = ["compile_for", "compile_if", "compile_let", "wrapped_in_line"]


def wrapped_in_line(step: Step, around: tuple[str, str] | None, *, in_first: bool, tail: bool) -> Step:
    """A step whose content gets the blanks and the break of its line, if it gives anything."""
    if around is None or around == ("", ""):
        return step
    before, after = around

    def wrapped(run: Run, names: Names, out: list[Any]) -> None:
        given: list[Any] = []
        step(run, names, given)
        if in_first:
            out.extend(
                around_each(given, before, after) if tail else settle(around_each(given, before, after))
            )
        elif all(map(is_nothing, given)):
            out.extend(given)
        else:
            if before:
                out.append(before)
            out.extend(given)
            if after:
                out.append(Tail(after) if tail else after)

    return wrapped


def compile_let(unit: Unit, node: Element) -> Step:
    """The step that names a value; it gives no node."""
    name = _written(node, "name")
    value = _value_of(unit, node, "value")

    def step(run: Run, names: Names, _out: list[Any]) -> None:
        names[name] = value(run, names)

    return step


def _written(node: Element, name: str) -> str:
    """An attribute that is written out."""
    attribute = node.attribute(name)
    assert attribute is not None
    assert isinstance(attribute.value, Quoted)
    text = attribute.value.constant
    assert text is not None
    return text


def _value_of(unit: Unit, node: Element, name: str) -> Callable[[Run, Names], Any]:
    from priompt_py.template.compile_attributes import value_of

    attribute = node.attribute(name)
    assert attribute is not None
    return value_of(unit, attribute)


def _branches(node: Element) -> list[tuple[Element | None, tuple[TemplateNode, ...]]]:
    """The parts of an ``if`` or ``for``: the tag that begins each (None for the first), and what stands in it."""
    parts: list[tuple[Element | None, list[TemplateNode]]] = [(None, [])]
    for child in node.children:
        if isinstance(child, Element) and child.name in ("elif", "else"):
            parts.append((child, []))
        else:
            parts[-1][1].append(child)
    return [(tag, tuple(children)) for tag, children in parts]


def compile_if(unit: Unit, node: Element, *, level: int, in_first: bool, tail: bool) -> Step:
    """The step that gives the content of the first branch whose test holds."""
    branches: list[tuple[Callable[[Run, Names], Any] | None, Attribute | None, Content]] = []
    for tag, children in _branches(node):
        owner = node if tag is None else tag
        content = compile_content(
            unit, children, level=level + 1, at=owner.start, in_first=in_first, tail=tail
        )
        test = None if owner.name == "else" else _value_of(unit, owner, "test")
        branches.append((test, owner.attribute("test"), content))

    def step(run: Run, names: Names, out: list[Any]) -> None:
        for test, attribute, content in branches:
            if test is None or holds(unit, run, test(run, names), attribute):
                content.into(run, names, out)
                return

    return wrapped_in_line(step, unit.layout.around.get(id(node)), in_first=in_first, tail=tail)


def holds(unit: Unit, run: Run, value: Any, attribute: Attribute | None) -> bool:
    """Whether a test holds."""
    try:
        return truth_of(value)
    except Fault as fault:
        at = 0 if attribute is None else attribute.start
        raise unit.source.error(at, fault.message, stack=run.stack) from None


def compile_for(unit: Unit, node: Element, *, level: int, in_first: bool, tail: bool) -> Step:
    """The step that gives the content once for each item."""
    each = _written(node, "each")
    index = None if node.attribute("index") is None else _written(node, "index")
    attribute = node.attribute("in")
    assert attribute is not None
    values = _value_of(unit, node, "in")
    parts = [
        compile_content(unit, children, level=level + 1, at=node.start, in_first=in_first, tail=tail)
        for _, children in _branches(node)
    ]
    body, otherwise = parts[0], parts[1] if len(parts) > 1 else None
    at = attribute.value.start if isinstance(attribute.value, Expression) else attribute.start

    def step(run: Run, names: Names, out: list[Any]) -> None:
        try:
            items = items_of(values(run, names))
        except Fault as fault:
            raise unit.source.error(at, fault.message, stack=run.stack) from None
        inner = dict(names)
        most = run.budget.bounds.loop
        count = 0
        for item in items:
            if count == most:
                raise unit.source.error(at, f"the loop has more than {most:,} turns", stack=run.stack)
            inner[each] = item
            if index is not None:
                inner[index] = count
            count += 1
            body.into(run, inner, out)
        if not count and otherwise is not None:
            otherwise.into(run, names, out)

    return wrapped_in_line(step, unit.layout.around.get(id(node)), in_first=in_first, tail=tail)
