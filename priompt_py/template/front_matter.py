"""The YAML block at the start of a template: its props, and the prompt's own settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.author.children import is_list
from priompt_py.model.strict_yaml import YamlFault, parse_yaml
from priompt_py.template.declared_props import NAME_OF_PROP, Prop, read_prop
from priompt_py.template.kinds import is_dict
from priompt_py.template.source import MOST_ERRORS, Source, near, one_line
from priompt_py.template.vocabulary import MODES

if TYPE_CHECKING:
    from priompt_py.errors import TemplateSyntaxError

__all__ = ["KEYS", "FrontMatter", "read_as_front_matter", "read_front_matter"]

KEYS = ("props", "description", "token_limit", "tokenizer", "examples", "must_keep", "limits", "whitespace")
"""What stands in front matter."""


@attrs.frozen
class FrontMatter:
    """What stands between the ``---`` lines. ``props`` is None where none are declared: then any will do.

    ``token_limit`` and ``limits`` are tokens; ``examples`` are props by the example's name, ``lines`` the 1-based
    lines where they begin.
    """

    props: tuple[Prop, ...] | None = None
    description: str | None = None
    token_limit: int | None = None
    tokenizer: str | None = None
    examples: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict[str, Any])
    must_keep: tuple[str, ...] = ()
    limits: tuple[int, ...] = ()
    whitespace: str = "default"
    text: str = attrs.field(default="", eq=False, repr=False)
    lines: Mapping[str, int] = attrs.field(factory=dict[str, int], eq=False, repr=False)


def read_as_front_matter(text: str) -> bool:
    """Whether a template that begins like this has front matter: its first line is ``---``."""
    return re.match(r"---[ \t]*(?:\n|$)", text) is not None


def read_front_matter(source: Source, errors: list[TemplateSyntaxError]) -> tuple[FrontMatter, int]:
    """The front matter of a template, and the offset where its body begins."""
    text = source.text
    if not read_as_front_matter(text):
        return FrontMatter(), 0
    start = text.find("\n") + 1 or len(text)
    end = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, start)
    if end is None:
        errors.append(source.syntax_error(0, "the front matter is not closed: a second line --- is missing"))
        return FrontMatter(), len(text)
    block = source.literal(text[start : end.start()])
    loaded = _load(source, block, start, errors)
    if loaded is None:
        return FrontMatter(text=text[: end.end()]), end.end()
    reader = _Reader(source, block, start, errors)
    front = attrs.evolve(reader.read(loaded), text=text[: end.end()], lines=_lines_of_examples(block))
    return front, end.end()


def _lines_of_examples(block: str) -> dict[str, int]:
    if "examples" not in block:
        return {}
    import yaml

    root: Any = yaml.compose(block, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return {}
    return {
        name.value: name.start_mark.line + 2  # from 1, behind the first ---
        for key, value in root.value
        if key.value == "examples" and isinstance(value, yaml.MappingNode)
        for name, _ in value.value
    }


def _load(source: Source, block: str, start: int, errors: list[TemplateSyntaxError]) -> dict[Any, Any] | None:
    import yaml

    def fault(offset: int, message: str) -> None:
        errors.append(source.syntax_error(min(offset, len(source.text)), message))

    problem = _too_much(block)
    if problem is not None:
        fault(start + problem[0], problem[1])
        return None
    try:
        loaded: Any = parse_yaml(block)
    except YamlFault as error:
        fault(start + error.offset, f"the front matter is not YAML: {error.message}")
        return None
    except RecursionError:
        fault(start, "the front matter is nested too deeply")
        return None
    for event in yaml.parse(block, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            place: Any = event.start_mark
            fault(start + place.index, "the front matter takes no aliases (*name)")
            return None
    if loaded is None:
        return {}
    if not is_dict(loaded):
        fault(
            start,
            f"the front matter needs keys with values, such as `description: …`, got {type(loaded).__name__}",
        )
        return None
    return loaded


_MOST_LONG = 100_000
_MOST_DEEP = 100


def _too_much(block: str) -> tuple[int, str] | None:
    """Where a block is too much for YAML's reader, which takes quadratic time, and why."""
    if len(block) > _MOST_LONG:
        return 0, f"the front matter has at most {_MOST_LONG:,} characters, this one {len(block):,}"
    depth = 0
    for match in re.finditer(r"[\[{]|[\]}]", block):
        depth = depth + 1 if match[0] in "[{" else max(depth - 1, 0)
        if depth > _MOST_DEEP:
            return match.start(), f"the front matter is nested more than {_MOST_DEEP} brackets deep"
    return None


class _Reader:
    """Reads the loaded front matter; errors point at the key's line."""

    def __init__(self, source: Source, block: str, start: int, errors: list[TemplateSyntaxError]) -> None:
        self._source = source
        self._block = block
        self._start = start
        self._errors = errors

    def _fault(self, key: object, message: str, *, indented: bool = False) -> None:
        lead = r"[ \t{,]+" if indented else ""
        found = re.search(rf"^{lead}[\"']?(?={re.escape(str(key))}[\"']?\s*:)", self._block, re.MULTILINE)
        offset = found.end() if found else 0
        self._errors.append(self._source.syntax_error(self._start + offset, message))

    def read(self, loaded: dict[Any, Any]) -> FrontMatter:
        for key in loaded:
            if key not in KEYS and len(self._errors) < MOST_ERRORS:
                hint = near(str(key), KEYS) or f"; it takes {', '.join(KEYS)}"
                self._fault(key, f"the front matter takes no {one_line(str(key))}{hint}")
        return FrontMatter(
            props=self._props(loaded.get("props")) if "props" in loaded else None,
            description=self._checked(loaded, "description", str, "text"),
            token_limit=self._limit(loaded.get("token_limit")),
            tokenizer=self._checked(loaded, "tokenizer", str, "a tokenizer's name"),
            examples=self._examples(loaded.get("examples")),
            must_keep=self._texts(loaded.get("must_keep")),
            limits=self._limits(loaded.get("limits")),
            whitespace=self._mode(loaded.get("whitespace", "default")),
        )

    def _checked(self, loaded: dict[Any, Any], key: str, kind: type, what: str) -> Any:
        value = loaded.get(key)
        if value is None or isinstance(value, kind):
            return value
        self._fault(key, f"{key} needs {what}, got {one_line(repr(value))}")
        return None

    def _limit(self, value: object) -> int | None:
        if value is None or (type(value) is int and value >= 0):
            return value
        self._fault(
            "token_limit", f"token_limit needs a whole number, 0 or more, got {one_line(repr(value))}"
        )
        return None

    def _limits(self, value: object) -> tuple[int, ...]:
        if value is None:
            return ()
        if is_list(value) and all(type(one) is int and one >= 0 for one in value):
            return tuple(value)
        self._fault("limits", f"limits needs a list of whole numbers, got {one_line(repr(value))}")
        return ()

    def _texts(self, value: object) -> tuple[str, ...]:
        if value is None:
            return ()
        if is_list(value) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self._fault("must_keep", f"must_keep needs a list of labels, got {one_line(repr(value))}")
        return ()

    def _mode(self, value: object) -> str:
        if value in MODES:
            return str(value)
        self._fault("whitespace", f"whitespace is one of {', '.join(MODES)}, got {one_line(repr(value))}")
        return "default"

    def _examples(self, value: object) -> dict[str, dict[str, Any]]:
        if value is None:
            return {}
        if is_dict(value) and all(isinstance(name, str) and is_dict(props) for name, props in value.items()):
            return value
        self._fault("examples", "examples needs names with props each, such as `short: {question: Why?}`")
        return {}

    def _props(self, value: object) -> tuple[Prop, ...] | None:
        """The props; None where some of their names can't be known."""
        if value is None:
            return ()
        if not is_dict(value):
            self._fault("props", "props needs names with types, such as `name: str`")
            return None
        found: list[Prop] = []
        is_complete = True
        for name, declared in value.items():
            if len(self._errors) >= MOST_ERRORS:
                return None
            if not isinstance(name, str) or not NAME_OF_PROP.fullmatch(name):
                self._fault(
                    name,
                    f"a prop's name has letters, digits and _, a letter first, got {one_line(str(name))}",
                    indented=True,
                )
                is_complete = False
                continue
            prop, problem = read_prop(name, declared)
            if problem is not None:
                self._fault(name, problem, indented=True)
            found.append(prop)
        return tuple(found) if is_complete else None
