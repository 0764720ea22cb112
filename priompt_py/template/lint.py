"""The linter: what is wrong with a template, and what probably is.

Of a template with syntax errors the rest is looked at too: for functions, filters and components that aren't there,
and for names that nothing declares, as far as no broken tag could do so.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from priompt_py.author.element_table import ELEMENTS_BY_NAME
from priompt_py.errors import TemplateError
from priompt_py.template import expression_syntax as ast
from priompt_py.template.advice import undefined
from priompt_py.template.compile import expressions_of
from priompt_py.template.compile_elements import constant_problem
from priompt_py.template.declared_props import Prop, parse_props
from priompt_py.template.environment import Environment
from priompt_py.template.expression_syntax import Expr, parts_of
from priompt_py.template.layout import lay_out
from priompt_py.template.link import faults_of_names
from priompt_py.template.lint_front_matter import check_front_matter
from priompt_py.template.lint_priorities import check_alternatives, check_priorities
from priompt_py.template.loader import join_name
from priompt_py.template.parse import Reading, read_source
from priompt_py.template.source import MOST_ERRORS, Source, near, one_line
from priompt_py.template.syntax import (
    Attribute,
    Element,
    Expression,
    Insertion,
    Quoted,
    Spread,
    TemplateNode,
    Text,
    walk,
)
from priompt_py.template.vocabulary import CONTROL, MESSAGES, is_component

__all__ = ["Finding", "lint_source", "lint_template"]


@attrs.frozen
class Finding:
    """What was found: a 1-based place, and whether it is an error or a warning."""

    file: str
    line: int
    column: int
    message: str
    is_error: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {'' if self.is_error else 'warning: '}{self.message}"


def lint_template(
    text: str, name: str = "<template>", *, environment: Environment | None = None
) -> list[Finding]:
    """All that is found in a template's text, in order."""
    return lint_source(Source(text, name), environment or Environment())


def lint_source(source: Source, environment: Environment, *, name: str | None = None) -> list[Finding]:
    """The same of a source; ``name`` is the loader's name of it, for what it imports."""
    linter = _Linter(read_source(source, environment.bounds), environment, name)
    linter.run()
    return sorted(dict.fromkeys(linter.findings), key=_place_of)


def _place_of(finding: Finding) -> tuple[str, int, int]:
    return (finding.file, finding.line, finding.column)


def _of_error(error: TemplateError) -> Finding:
    return Finding(error.file or "", error.line or 1, error.column or 1, error.message)


class _Linter:
    def __init__(self, reading: Reading, environment: Environment, name: str | None) -> None:
        self.findings: list[Finding] = [_of_error(one) for one in reading.errors]
        self._reading = reading
        self._parsed = reading.template
        self._source = self._parsed.source
        self._environment = environment
        self._name = name
        self._used: set[str] = set()
        self._props: dict[str, tuple[Prop, ...] | None] = {}  # of components

    def _note(self, at: int, message: str, *, is_error: bool = True) -> None:
        place = self._source.location(min(at, len(self._source.text)))
        self.findings.append(Finding(place.file, place.line, place.column, message, is_error))

    def run(self) -> None:
        check_front_matter(self._parsed, self._note)
        self._link()
        declared = self._parsed.front_matter.props
        names = None if declared is None else frozenset(prop.name for prop in declared)
        if names is not None and not self._reading.is_paired:
            names |= _declared_in(self._parsed.nodes)  # where tags end is not known
        self._walk_names(self._parsed.nodes, names)
        if self._reading.errors:
            return
        self._unused(declared)
        for node in walk(self._parsed.nodes):
            if isinstance(node, Element):
                self._structure(node)
        self._beside_messages(self._parsed.nodes)
        for at, message, is_error in (
            *check_priorities(self._parsed.nodes),
            *check_alternatives(self._parsed.nodes),
        ):
            self._note(at, message, is_error=is_error)
        self._empty_lines()

    # -------------------------------------------------------------------------------------- components

    def _link(self) -> None:
        """What linking would refuse, and the props of all components."""
        reading = self._reading
        knows_components = reading.is_complete and not any(
            isinstance(node, Element) and _may_declare(node, _COMPONENTS) for node in walk(self._parsed.nodes)
        )
        self.findings += [
            _of_error(one)
            for one in faults_of_names(
                self._environment,
                self._parsed,
                self._name,
                knows_components=knows_components,
                knows_children=reading.is_paired,
            )
        ]
        for node in self._parsed.nodes:
            if not isinstance(node, Element) or node.name not in _COMPONENTS or node.is_broken:
                continue
            name = _written(node, "name")
            if node.name == "component":
                text = _written(node, "props") if node.attribute("props") is not None else ""
                self._props[name] = parse_props(text)[0]
            else:
                self._props[name] = self._imported(_written(node, "from"))

    def _imported(self, target: str) -> tuple[Prop, ...] | None:
        try:
            return self._environment.load(
                join_name(self._name, target), (self._name or "",)
            ).front_matter.props
        except TemplateError:
            return None  # linking said so

    def _structure(self, node: Element) -> None:
        if is_component(node.name):
            self._used.add(f"<{node.name}>")
            self._check_call(node)
            return
        problem = constant_problem(self._source, node) if node.name in ELEMENTS_BY_NAME else None
        if problem is not None:
            self._note(*problem)
        if node.name in MESSAGES:
            for child in walk(node.children):
                if isinstance(child, Element) and child.name in MESSAGES:
                    self._note(child.start, f"a message in a message: <{child.name}> stands in <{node.name}>")

    def _check_call(self, node: Element) -> None:
        props = self._props.get(node.name)
        if props is None or any(isinstance(one, Spread) for one in node.attributes):
            return
        known = {prop.name: prop for prop in props}
        given = {one.name for one in node.attributes if isinstance(one, Attribute)}
        for one in node.attributes:
            if isinstance(one, Attribute) and one.name not in known:
                hint = near(one.name, known) or (
                    f"; it takes {', '.join(known)}" if known else "; it takes none"
                )
                self._note(one.start, f"<{node.name}> takes no prop {one_line(one.name)}{hint}")
        missing = [prop.name for prop in props if prop.required and prop.name not in given]
        if missing:
            self._note(node.start, f"<{node.name}> needs {' and '.join(missing)}")

    # -------------------------------------------------------------------------------------- names

    def _walk_names(self, nodes: tuple[TemplateNode, ...], names: frozenset[str] | None) -> None:
        """Look up the names in expressions; ``None``: props are not declared, so any may be given."""
        here = names
        for node in nodes:
            if isinstance(node, Element):
                if node.name == "component":
                    self._walk_names(node.children, self._props_of(node))
                    continue
                for expression in expressions_of(node):
                    self._look_up(expression, here)
                if _may_declare(node, _LET):
                    here = None
                elif node.name == "let":
                    here = None if here is None else here | {_written(node, "name")}
                inner = None if _may_declare(node, _FOR) else here
                if node.name == "for" and inner is not None:
                    index = {_written(node, "index")} if node.attribute("index") is not None else set[str]()
                    inner = inner | {_written(node, "each")} | index
                self._walk_names(node.children, inner)
            elif isinstance(node, Insertion):
                self._look_up(node.expression, here)

    def _props_of(self, component: Element) -> frozenset[str] | None:
        """The names that a component's content knows; None where they can't be known."""
        if component.is_broken:
            return None
        text = _written(component, "props") if component.attribute("props") is not None else ""
        props, problem = parse_props(text)
        if problem is not None:
            return None
        names = frozenset(prop.name for prop in props)
        return names if self._reading.is_paired else names | _declared_in(self._parsed.nodes)

    def _look_up(self, expression: Expression, names: frozenset[str] | None) -> None:
        for part, is_asked in _names_in(expression.root):
            self._used.add(part.name)
            if (
                names is not None
                and part.name not in names
                and not is_asked
                and len(self.findings) < MOST_ERRORS
            ):
                self._note(
                    expression.start + part.at, undefined(part.name, names, self._environment.functions)
                )

    def _unused(self, declared: tuple[Prop, ...] | None) -> None:
        front = self._parsed.front_matter.text
        for prop in declared or ():
            if prop.name not in self._used:
                at = max(front.find(f"{prop.name}:"), 0)
                self._note(at, f"the prop {prop.name} is not used", is_error=False)
        for node in walk(self._parsed.nodes):
            if isinstance(node, Element):
                if node.name == "let" and _written(node, "name") not in self._used:
                    self._note(node.start, f"{_written(node, 'name')} is not used", is_error=False)
                if node.name in ("import", "component"):
                    name = _written(node, "name")
                    if not any(
                        isinstance(one, Element) and one.name == name for one in walk(self._parsed.nodes)
                    ):
                        self._note(node.start, f"<{name}> is not used", is_error=False)

    # -------------------------------------------------------------------------------------- text

    def _beside_messages(self, nodes: tuple[TemplateNode, ...]) -> None:
        """Text that is not blank beside messages can't be sent."""
        if any(isinstance(node, Element) and node.name in MESSAGES for node in nodes):
            for node in nodes:
                if isinstance(node, Text) and node.value.strip():
                    at = node.start + len(node.value) - len(node.value.lstrip())
                    self._note(at, "text beside messages: put it into one, or in a comment {# … #}")
        for node in nodes:
            if isinstance(node, Element) and node.name not in MESSAGES and not is_component(node.name):
                self._beside_messages(node.children)

    def _empty_lines(self) -> None:
        """An insertion that has a line to itself leaves the line empty where its value is None."""
        declared = self._parsed.front_matter.props or ()
        optional = {prop.name for prop in declared if prop.optional and prop.default is None}
        layout = lay_out(self._parsed.nodes, self._parsed.front_matter.whitespace)
        for _, lines in layout.regions:
            for line in lines:
                marks = [mark for mark in line.marks if mark.kind != "text" or mark.text.strip(" \t")]
                if line.kind != "text" or len(marks) != 1 or not isinstance(marks[0].node, Insertion):
                    continue
                root = marks[0].node.expression.root
                if isinstance(root, ast.Name) and root.name in optional:
                    self._note(
                        marks[0].node.start,
                        f"where {root.name} is None, its line stays, empty: write "
                        f"<if test={{{root.name}}}>{{{root.name}}}</if>",
                        is_error=False,
                    )


_COMPONENTS = ("import", "component")
_LET = ("let",)
_FOR = ("for",)


def _may_declare(node: Element, names: tuple[str, ...]) -> bool:
    """Whether a tag that can't be read, or has no known name, may have been meant as one of these."""
    name = node.name.lower()
    if is_component(node.name):
        return name in names  # <For> for <for>
    return node.is_broken and (name in names or (name not in ELEMENTS_BY_NAME and name not in CONTROL))


def _declared_in(nodes: tuple[TemplateNode, ...]) -> frozenset[str]:
    """All names that loops and ``<let/>`` declare somewhere."""
    return frozenset(
        _written(node, argument)
        for node in walk(nodes)
        if isinstance(node, Element) and node.name in ("for", "let")
        for argument in ("name", "each", "index")
    )


def _written(node: Element, name: str) -> str:
    attribute = node.attribute(name)
    value = None if attribute is None else attribute.value
    return (value.constant or "") if isinstance(value, Quoted) else ""


def _names_in(root: Expr) -> Iterator[tuple[ast.Name, bool]]:
    """The names in an expression, and whether it is asked if they are there."""
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, is_asked = stack.pop()
        if isinstance(node, ast.Name):
            yield node, is_asked
        asks = isinstance(node, ast.Test) and node.asks == "defined"
        for index, part in enumerate(parts_of(node)):
            is_default = isinstance(node, ast.Filter) and node.function == "default" and index == 0
            stack.append((part, is_asked or asks or is_default))
