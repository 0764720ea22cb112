"""Templates inside Python: ``markup("<user>{question}</user>", question=…)``, and template strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeGuard, cast

from priompt_py.author.children import a_type
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, TemplateSyntaxError
from priompt_py.model.values import short_repr
from priompt_py.template.environment import Environment, Template
from priompt_py.template.parse import parse_source, raise_first
from priompt_py.template.source import LITERAL_CLOSE, LITERAL_OPEN, VALUE, Source
from priompt_py.template.syntax import Element, walk

__all__ = ["TemplateString", "markup"]

_REFUSED = frozenset({"for", "let", "component", "import"})
_NAME = "<markup>"


class InterpolationLike(Protocol):
    """A value in a template string, as PEP 750 has it."""

    @property
    def value(self) -> Any: ...
    @property
    def expression(self) -> str: ...
    @property
    def conversion(self) -> str | None: ...
    @property
    def format_spec(self) -> str: ...


class TemplateString(Protocol):
    """A template string: Python 3.14's ``t"…"``, or any object like it."""

    @property
    def strings(self) -> Sequence[str]: ...
    @property
    def interpolations(self) -> Sequence[InterpolationLike]: ...


def markup(
    template: str | TemplateString, environment: Environment | None = None, /, **values: Any
) -> list[Any]:
    """The node of a template given in place: a list of nodes.

    Of a text, ``values`` are the props. In a template string the values are those that it holds: braces in its text
    are text, and what ``for``, ``let`` and ``component`` do is Python's business. An Environment may be given as
    ``environment=…`` too; anything else of this name is a prop.
    The text is parsed once, however often the line runs. Raises TemplateSyntaxError or TemplateError.
    """
    if environment is None and isinstance(values.get("environment"), Environment):
        environment = values.pop("environment")
    chosen = _DEFAULT if environment is None else environment
    if isinstance(template, str):
        return _parsed(chosen, str(template))(**values)
    if not _is_template_string(template):
        raise ArgumentTypeError(f"markup() needs a text or a template string, got {a_type(template)}")
    if values:
        raise ArgumentValueError(
            f"markup() takes the values of a template string from it alone, got {', '.join(values)}"
        )
    names = tuple(f"{VALUE}{index}" for index in range(len(template.interpolations)))
    shown = tuple(map(_code_of, template.interpolations))
    given = dict(zip(names, map(_value_of, template.interpolations), strict=True))
    return _of_strings(chosen, tuple(map(str, template.strings)), shown)(**given)


def _is_template_string(value: object) -> TypeGuard[TemplateString]:
    strings = getattr(value, "strings", None)
    interpolations = getattr(value, "interpolations", None)
    return (
        isinstance(strings, Sequence)
        and isinstance(interpolations, Sequence)
        and all(isinstance(one, str) for one in cast("Sequence[object]", strings))
        and all(hasattr(one, "value") for one in cast("Sequence[object]", interpolations))
        and len(cast("Sequence[object]", strings)) == len(cast("Sequence[object]", interpolations)) + 1
    )


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def _value_of(interpolation: InterpolationLike) -> Any:
    """An interpolation's value, converted and formatted as it asks for."""
    value = interpolation.value
    conversion = getattr(interpolation, "conversion", None)
    spec = getattr(interpolation, "format_spec", "")
    if conversion is not None:
        if conversion not in _CONVERSIONS:
            raise ArgumentValueError(
                f"markup() knows the conversions s, r and a, got {short_repr(conversion)}"
            )
        value = _CONVERSIONS[conversion](value)
    try:
        return format(value, spec) if spec else value
    except (TypeError, ValueError) as error:
        raise ArgumentValueError(
            f"markup() can't write {a_type(value)} in the format {short_repr(spec)}"
        ) from error


def _code_of(interpolation: InterpolationLike) -> str:
    """An interpolation's code, for messages; nothing where it has none."""
    code: object = getattr(interpolation, "expression", "")
    return code.strip() if isinstance(code, str) else ""


_DEFAULT = Environment()


@lru_cache(maxsize=256)
def _parsed(environment: Environment, text: str) -> Template:
    return environment.from_string(text, _NAME)


@lru_cache(maxsize=256)
def _of_strings(environment: Environment, strings: tuple[str, ...], shown: tuple[str, ...]) -> Template:
    """The template of the texts between the values, which stand in it as names; ``shown`` is their code."""
    pieces: list[str] = []
    for index, text in enumerate(strings):
        if index:
            pieces.append(f"{{{VALUE}{index - 1}}}")
        if LITERAL_OPEN in text or LITERAL_CLOSE in text:
            raise TemplateSyntaxError(
                f"the text holds the noncharacter U+{ord(LITERAL_OPEN):04X} or the next", file=_NAME
            )
        pieces.append(text.replace("{", LITERAL_OPEN).replace("}", LITERAL_CLOSE))
    source = Source("".join(pieces), _NAME, values=shown)
    parsed = parse_source(source, environment.bounds)
    if parsed.front_matter.props is not None:
        raise source.syntax_error(0, "props are not for template strings: their values are in them")
    refused = [
        source.syntax_error(node.start, f"<{node.name}> is not for template strings: Python has it")
        for node in walk(parsed.nodes)
        if isinstance(node, Element) and node.name in _REFUSED
    ]
    raise_first(refused)
    return environment.from_source(source)
