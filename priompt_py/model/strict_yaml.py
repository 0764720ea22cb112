"""YAML text as plain data, and what is wrong with one in our own words, with its line and column.

Lines and columns count from 1, in code points; offsets from 0. PyYAML reads it, by a loader that makes nothing but data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from priompt_py.model.strict_json import line_and_column
from priompt_py.model.values import short_repr

__all__ = ["MOST_VALUES", "YamlFault", "parse_yaml"]

MOST_VALUES = 1_000_000
"""How many values a text may stand for, a value that aliases repeat counting each time."""

_STANDARD = "tag:yaml.org,2002:"
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "timestamp": "a date or time",
}
_WRONG_VALUES = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)
"""What PyYAML raises for a date such as 2024-13-01, for ``!!bool x``, ``!!timestamp x`` or ``"\\U99999999"``."""

_MOST_DIGITS = 4_300  # of a whole number that Python reads
_OURS = "ours: "  # begins a message that needs no other words

_Told = Callable[[re.Match[str]], str]


def _unclosed(match: re.Match[str]) -> str:
    met = match[2]
    closing = match[1]
    where = "" if met == "<stream end>" else f" before {_token(met)}"
    return f"a comma or {closing} is needed{where or ', and the text ends'}"


_MESSAGES: tuple[tuple[str, _Told], ...] = (
    (r"expected ',' or '(.)', but got '(.*)'", _unclosed),
    (r"found unexpected end of stream", lambda _: "a quoted text is not closed"),
    (r"found unexpected document separator", lambda _: "a quoted text is not closed before this line"),
    (
        r"mapping values are not allowed here",
        lambda _: "no ':' can stand here: put the text in quotes, or the value on a line of its own",
    ),
    (r"mapping keys are not allowed here", lambda _: "no key can begin with '?' here"),
    (
        r"sequence entries are not allowed here",
        lambda _: "no list can begin here: put it on a line of its own",
    ),
    (
        r"could not find expected ':'",
        lambda _: (
            "the line before has a key without ':' and a value, or the text above is indented too little"
        ),
    ),
    (
        r"found character '\\t' that cannot start any token",
        lambda _: "a tab can't indent: use blanks",
    ),
    (
        r"found character (.+) that cannot start any token",
        lambda match: f"no value begins with {match[1]}: put it in quotes",
    ),
    (
        r"found unknown escape character (.+)",
        lambda match: f"there is no escape \\{match[1][1:-1]} in a text",
    ),
    (
        r"expected escape sequence of (\d+) hexadecimal numbers, but found (.+)",
        lambda match: f"the escape needs {match[1]} hexadecimal digits, got {_met(match[2])}",
    ),
    (
        r"found undefined alias '(.*)'",
        lambda match: f"no anchor &{match[1]} stands before the alias *{match[1]}",
    ),
    (r"second occurrence", lambda _: "this anchor has a name that another one has already"),
    (
        r"could not determine a constructor for the tag '(.*)'",
        lambda match: f"there are no values of {_tag(match[1])}: only plain data can be read",
    ),
    (r"found undefined tag handle (.+)", lambda match: f"the tag's beginning {match[1]} is not declared"),
    (r"found unhashable key", lambda _: "a key is a text or a number, no list and no object"),
    (r"found unconstructable recursive node", lambda _: "a value can't be a part of itself"),
    (r"but found another document", lambda _: "a second document begins here; only one is read"),
    (
        r"expected '<document start>', but found '(.*)'",
        lambda match: f"the document has ended before {_token(match[1])}: look at the indentation",
    ),
    (
        r"expected <block end>, but found '(.*)'",
        lambda match: (
            f"{_token(match[1])} can't stand here: look at the line's indentation, and at quotes and brackets"
        ),
    ),
    (
        r"expected the node content, but found '(.*)'",
        lambda match: f"a value is needed, got {_token(match[1])}",
    ),
    (
        r"expected chomping or indentation indicators, but found (.+)",
        lambda match: f"a text in lines of its own begins on the line below | or >, got {_met(match[1])}",
    ),
    (
        r"expected a comment or a line break, but found (.+)",
        lambda match: f"the line should end here, got {_met(match[1])}",
    ),
    (
        r"expected alphabetic or numeric character, but found (.+)",
        lambda match: f"a name is needed, got {_met(match[1])}",
    ),
    (
        r"expected a (mapping|sequence|scalar)(?: node)?, but found .*",
        lambda match: f"the tag is one of {_NODES[match[1]]}, and this is none",
    ),
    (
        r"expected a mapping or list of mappings for merging, but found .*",
        lambda _: "<< takes in objects, or a list of objects",
    ),
    (r"expected a mapping for merging, but found .*", lambda _: "<< takes in objects, or a list of objects"),
    (
        r"found incompatible YAML document \(version 1\.\* is required\)",
        lambda _: "only version 1 of YAML is read",
    ),
    (
        r"invalid indentation or unclosed '\[' or '\{'",
        lambda _: "a bracket is not closed, or the indentation is wrong",
    ),
    (r"failed to (?:decode|convert) base64 data.*", lambda _: "this is no base64"),
    (rf"{_OURS}(.*)", lambda match: match[1]),
)
"""What PyYAML says, from beginning to end, and what we do."""

_NODES: dict[str, str] = {"mapping": "objects", "sequence": "lists", "scalar": "single values"}

_TOKENS = {
    "<stream end>": "the end of the text",
    "<document start>": "the line ---",
    "<document end>": "the line ...",
    "<block mapping start>": "a key",
    "<block sequence start>": "an item of a list",
    "<block end>": "the end of the indented part",
    "<scalar>": "a text or a number",
    "<alias>": "an alias",
    "<anchor>": "an anchor",
    "<tag>": "a tag",
    "<directive>": "a line that begins with %",
    "?": "a key",
}


class YamlFault(ValueError):
    """A text is no YAML: ``message`` says what is wrong and what would do, ``offset``, ``line`` and ``column`` where."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        self.line, self.column = line_and_column(text, offset)
        super().__init__(f"{message} (line {self.line}, column {self.column})")


def parse_yaml(text: str) -> Any:
    """The data of one YAML document: no tags but YAML's own for data, no key twice in one object.

    Raises YamlFault, and RecursionError for what is nested too deeply.
    """
    import yaml

    try:
        loader = _loader(text)
    except yaml.reader.ReaderError as error:
        raise YamlFault(
            f"the character {text[error.position]!r} is not allowed", text, error.position
        ) from None
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node, text)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark or loader.get_mark()
        raise YamlFault(_in_our_words(error.problem or error.context or ""), text, mark.index) from None
    except _WRONG_VALUES as error:  # of an escape: those of values have become the loader's
        if isinstance(error, YamlFault):
            raise
        raise YamlFault("the escape names no character", text, loader.get_mark().index) from None
    finally:
        loader.dispose()


def _in_our_words(problem: str) -> str:
    for pattern, told in _MESSAGES:
        match = re.fullmatch(pattern, problem, re.DOTALL)
        if match is not None:
            return told(match)
    return "YAML allows nothing like this here"


def _token(name: str) -> str:
    return _TOKENS.get(name, repr(name))


def _met(character: str) -> str:
    """A character as PyYAML shows it, which has a NUL for the end."""
    return "the end of the text" if character == repr("\0") else character


def _tag(tag: str) -> str:
    """A tag as it is written: ``!!bool`` for YAML's own."""
    return f"!!{tag.removeprefix(_STANDARD)}" if tag.startswith(_STANDARD) else tag


# ------------------------------------------------------------------------------------------ the loader


def _loader(text: str) -> Any:
    import yaml

    read_object: Callable[[Any, Any, bool], Any] = getattr(yaml.SafeLoader, "construct_object")  # noqa: B009 - its type is not known

    class Loader(yaml.SafeLoader):
        """The safe loader, which refuses a key that stands twice, and says where a value is wrong."""

        def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - yaml's
            try:
                return read_object(self, node, deep)
            except _WRONG_VALUES:
                raise _refused(_wrong_value(node), node) from None

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - yaml's
            seen: set[tuple[str, str]] = set()
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if isinstance(key, yaml.ScalarNode) and key.tag != f"{_STANDARD}merge":
                    name = (key.tag, key.value)
                    if name in seen:
                        raise _refused(f"the key {short_repr(key.value)} stands twice in one object", key)
                    seen.add(name)
            return super().construct_mapping(node, deep)

    return Loader(text)


def _refused(message: str, node: Any) -> Exception:
    import yaml

    return yaml.constructor.ConstructorError(None, None, _OURS + message, node.start_mark)


def _wrong_value(node: Any) -> str:
    kind = node.tag.removeprefix(_STANDARD)
    if kind == "int" and len(node.value) > _MOST_DIGITS:
        return f"a whole number has more than {_MOST_DIGITS:,} digits"
    return f"{_KINDS.get(kind, f'a value of {_tag(node.tag)}')} is needed, got {short_repr(node.value)}"


def _check_size(root: Any, text: str) -> None:
    """Refuse what aliases make endless, or larger than MOST_VALUES: a few lines can stand for millions of values."""
    sizes: dict[int, int] = {}
    inside: set[int] = set()
    steps: list[tuple[Any, Iterator[Any]]] = []

    def enter(node: Any) -> None:
        inside.add(id(node))
        steps.append((node, iter(_children(node))))

    enter(root)
    while steps:
        node, children = steps[-1]
        for child in children:
            if id(child) in inside:
                raise YamlFault("a value can't be a part of itself", text, child.start_mark.index)
            if id(child) not in sizes:
                enter(child)
                break
        else:
            steps.pop()
            inside.discard(id(node))
            size = 1 + sum(sizes[id(child)] for child in _children(node))
            if size > MOST_VALUES:
                raise YamlFault(
                    f"this stands for more than {MOST_VALUES:,} values", text, node.start_mark.index
                )
            sizes[id(node)] = size


def _children(node: Any) -> list[Any]:
    if isinstance(node.value, str):
        return []
    items: list[Any] = node.value
    found: list[Any] = []
    for item in items:
        found += item if type(item) is tuple else (item,)
    return found
