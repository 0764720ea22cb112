"""What the names in a template mean: its imports, its own components, those of the environment, functions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.author.element_table import ELEMENTS_BY_NAME
from priompt_py.errors import TemplateError, TemplateSyntaxError
from priompt_py.template.builtin import signature_of
from priompt_py.template.collector import without_collections
from priompt_py.template.compile import Content, Unit, compile_content, expressions_of
from priompt_py.template.component_calls import CallComponent, python_call, template_call
from priompt_py.template.declared_props import Prop, parse_props
from priompt_py.template.expression_syntax import Call, Expr, Filter, parts_of
from priompt_py.template.fitting import misfit
from priompt_py.template.layout import lay_out
from priompt_py.template.loader import join_name
from priompt_py.template.parse import ParsedTemplate, raise_first
from priompt_py.template.source import MOST_ERRORS, near
from priompt_py.template.syntax import (
    Comment,
    Element,
    Expression,
    Insertion,
    Quoted,
    TemplateNode,
    Text,
    walk,
)
from priompt_py.template.vocabulary import CONTROL, is_component, unknown_tag

if TYPE_CHECKING:
    from priompt_py.template.environment import Environment, Template

__all__ = ["Link", "expressions_in", "faults_of_names", "link", "takes_children"]


@attrs.define(eq=False)
class Link:
    """A template with its names resolved: ``body`` is what is evaluated; ``imports`` by the component's name."""

    body: Content
    imports: dict[str, Template]
    stamp: Any


def link(
    environment: Environment,
    parsed: ParsedTemplate,
    name: str | None,
    stamp: object,
    importers: tuple[str, ...],
) -> Link:
    """Resolve and compile. Raises TemplateSyntaxError for what isn't there."""
    linker = _Linker(environment, parsed, name)
    linker.look_up(importers)
    if linker.foreign:
        raise linker.foreign[0]
    raise_first(linker.errors)
    with without_collections():
        body = linker.compile()
    return Link(body, linker.imports, stamp)


def faults_of_names(
    environment: Environment,
    parsed: ParsedTemplate,
    name: str | None,
    *,
    knows_components: bool = True,
    knows_children: bool = True,
) -> list[TemplateError]:
    """All that linking would refuse, in what it imports too.

    A template with errors is what could be read of it: ``knows_components`` says that all is there which it defines
    and imports, ``knows_children`` that what stands in an element was meant to.
    """
    linker = _Linker(environment, parsed, name)
    linker.look_up((), knows_components=knows_components, knows_children=knows_children)
    foreign = [
        one
        for error in linker.foreign
        for one in ((isinstance(error, TemplateSyntaxError) and error.errors) or (error,))
    ]
    return [*linker.errors, *foreign]


@attrs.define(eq=False)
class _Defined:
    """A component of the file itself; its body is compiled when all names are known."""

    node: Element
    props: tuple[Prop, ...]
    body: Content | None = None
    takes_children: bool | None = None  # None: not looked yet


class _Linker:
    def __init__(self, environment: Environment, parsed: ParsedTemplate, name: str | None) -> None:
        self.errors: list[TemplateSyntaxError] = []
        self.foreign: list[TemplateError] = []  # those of what is imported
        self.imports: dict[str, Template] = {}
        self._environment = environment
        self._parsed = parsed
        self._source = parsed.source
        self._name = name
        self._defined: dict[str, _Defined] = {}
        self._places: dict[str, int] = {}
        self._signatures: dict[str, inspect.Signature | None] = {}

    def _error(self, at: int, message: str) -> None:
        self.errors.append(self._source.syntax_error(at, message))

    def _take(self, node: Element) -> str:
        """The name of an import or component, which may be given once."""
        name = _written(node, "name")
        if name in self._places:
            line = self._source.line_of(self._places[name])
            self._error(node.start, f"the component {name} is there already, in line {line}")
        self._places[name] = node.start
        return name

    def look_up(
        self, importers: tuple[str, ...], *, knows_components: bool = True, knows_children: bool = True
    ) -> None:
        """Find what the names mean."""
        self._load_imports(importers)
        self._define()
        self._check_names(knows_components=knows_components, knows_children=knows_children)

    def _load_imports(self, importers: tuple[str, ...]) -> None:
        """Load what the template imports, and what that imports."""
        here = self._name if self._name is not None else self._source.name
        for node in self._parsed.nodes:
            if not isinstance(node, Element) or node.name != "import" or node.is_broken:
                continue
            name = self._take(node)
            attribute = node.attribute("from")
            at = node.start if attribute is None else attribute.start
            try:
                target = join_name(self._name, _written(node, "from"))
                ring = (*importers, here)
                if target in ring:
                    shown = " → ".join([*ring[ring.index(target) :], target])
                    raise TemplateError(f"templates import each other in a ring: {shown}")
                if len(ring) > _MOST_IMPORTERS:
                    raise TemplateError(f"templates import each other more than {_MOST_IMPORTERS} deep")
                self.imports[name] = self._environment.load(target, ring)
            except TemplateError as error:
                if error.line is not None:
                    self.foreign.append(error)
                    continue
                message = error.message if error.file is None else f"{error.file}: {error.message}"
                self._error(at, message)

    def _define(self) -> None:
        """Note the components that the template defines."""
        for node in self._parsed.nodes:
            if not isinstance(node, Element) or node.name != "component" or node.is_broken:
                continue
            name = self._take(node)
            attribute = node.attribute("props")
            props, problem = ((), None) if attribute is None else parse_props(_written(node, "props"))
            if problem is not None and attribute is not None:
                self._error(attribute.start, problem)
            self._defined[name] = _Defined(node, props)

    def _check_names(self, *, knows_components: bool, knows_children: bool) -> None:
        """Look for components and functions that aren't there, and for children that nobody takes."""
        known = {**self._places, **self._environment.components}
        for node in walk(self._parsed.nodes):
            if len(self.errors) >= MOST_ERRORS:
                return
            if isinstance(node, Element) and is_component(node.name):
                if node.name not in known and knows_components:
                    self._error(
                        node.start, f"there is no component <{node.name}>{_hint(node.name, list(known))}"
                    )
                elif (
                    knows_children
                    and node.children
                    and self._takes_none(node.name)
                    and any(map(_is_child, node.children))
                ):
                    self._error(node.start, f"<{node.name}> takes no children: it has no <children/>")
            for expression in expressions_in(node):
                for part in calls_in(expression.root):
                    problem = self._problem_of(part)
                    if problem is not None:
                        self._error(min(expression.start + part.at, len(self._source.text)), problem)

    def _problem_of(self, call: Call | Filter) -> str | None:
        """What is wrong with a call: its function, or what it is given."""
        name, functions = call.function, self._environment.functions
        if name not in functions:
            what = "filter" if isinstance(call, Filter) else "function"
            return f"there is no {what} {name}{near(name, functions)}"
        if name not in self._signatures:
            self._signatures[name] = signature_of(functions[name])
        signature = self._signatures[name]
        if signature is None:
            return None
        given = len(call.arguments) + isinstance(call, Filter)
        return misfit(name, signature, given, [keyword for keyword, _ in call.keywords])

    def _takes_none(self, name: str) -> bool:
        """Whether a component is a template's that takes no children."""
        from priompt_py.template.environment import Template

        if name in self._defined:
            defined = self._defined[name]
            if defined.takes_children is None:
                defined.takes_children = takes_children(defined.node.children)
            return not defined.takes_children
        target = self.imports.get(name) or (
            None if name in self._places else self._environment.components.get(name)
        )
        return isinstance(target, Template) and not target.takes_children

    def compile(self) -> Content:
        """The body of the template."""
        layout = lay_out(self._parsed.nodes, self._parsed.front_matter.whitespace)
        unit = Unit(self._source, layout, self._component)
        for defined in self._defined.values():
            inner = Unit(self._source, layout, self._component)
            defined.body = compile_content(
                inner, defined.node.children, level=1, at=defined.node.start, is_closed=True
            )
        return compile_content(unit, self._parsed.nodes, level=0, at=0, is_closed=True)

    # -------------------------------------------------------------------------------------- calls

    def _component(self, name: str) -> CallComponent:
        """The function that calls the component of this name."""
        from priompt_py.template.environment import Template

        if name in self.imports:
            template = self.imports[name]
            return template_call(
                self._source, name, template.shown, template.front_matter.props, lambda: template.link.body
            )
        if name in self._defined:
            defined = self._defined[name]

            def body() -> Content:
                assert defined.body is not None
                return defined.body

            return template_call(self._source, name, f"<{name}>", defined.props, body)
        target = self._environment.components[name]
        return python_call(self._source, name, target.component if isinstance(target, Template) else target)


_MOST_IMPORTERS = 30


def takes_children(nodes: tuple[TemplateNode, ...]) -> bool:
    """Whether ``<children/>`` stands in the body of a template or component, those that it defines aside."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, Element) and node.name != "component":
            if node.name == "children":
                return True
            stack.extend(node.children)
    return False


def _is_child(node: TemplateNode) -> bool:
    return not (isinstance(node, Comment) or (isinstance(node, Text) and node.value.isspace()))


def _written(node: Element, name: str) -> str:
    attribute = node.attribute(name)
    assert attribute is not None
    assert isinstance(attribute.value, Quoted)
    text = attribute.value.constant
    assert text is not None
    return text


def _hint(name: str, known: list[str]) -> str:
    lower = name.lower()
    if lower in ELEMENTS_BY_NAME or lower in CONTROL:
        return unknown_tag(name)
    return near(name, known) or ": import it, define it, or give it as Environment(components=…)"


def expressions_in(node: TemplateNode) -> Iterator[Expression]:
    """The expressions of a node itself: an insertion's, or those of a tag's attributes."""
    if isinstance(node, Insertion):
        yield node.expression
    elif isinstance(node, Element):
        yield from expressions_of(node)


def calls_in(root: Expr) -> Iterator[Call | Filter]:
    """The calls and filters of an expression."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, (Call, Filter)):
            yield node
        stack.extend(parts_of(node))
