"""Random templates and expressions, made by the grammar, with odd but legal blanks, quotes and indentation."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from priompt_py.template import expression_syntax as ast
from priompt_py.template.expression_syntax import Expr

PROPS: dict[str, Any] = {
    "x": "X\n  y ",
    "n": None,
    "xs": ["a", "b\n"],
    "none": [],
    "yes": True,
    "no": False,
    "m": {"a": "v", "b": [1, 2]},
    "k": 7,
}
"""What the templates are rendered with."""

BOX = '<component name="Box" props="a=1">\n  [{a}\n  <children/>\n  ]\n</component>\n'
"""Stands before each template."""

words = st.sampled_from(["a", "word", "two words", "a > b", "&lt;", "&", "ä", "&#10;", "x\ty", "-"])
blanks = st.sampled_from(["", "", " ", "  ", "    ", "\t", "  \t"])
codes = st.sampled_from(
    [
        "x",
        " x ",
        "n",
        "k+1",
        "m.a",
        "m['a']",
        'm["a"] | upper',
        "xs | join(', ')",
        "[x, n]",
        "'}'",
        '"{"',
        "yes",
        "(k)",
    ]
)
tests = st.sampled_from(["yes", "no", "not no", "k > 3 and yes", "n is None", " xs "])
lists = st.sampled_from(["xs", "none", "[1,2]", "m.b"])
quoted = st.sampled_from(
    ['"a"', "'b'", "'say \"c\"'", '"it\'s"', '"a {k} b"', "'{m[\"a\"]}'", '"&lt;"', '"a\n b"', '""']
)
gaps = st.sampled_from([" ", "  ", "\n ", "\t"])


@st.composite
def attributes(draw: st.DrawFn, *names: str) -> str:
    """Some attributes of a scope."""
    pieces: list[str] = []
    for name in names:
        if draw(st.booleans()):
            value = (
                draw(quoted)
                if name in ("name", "key")
                else draw(st.sampled_from(["{1}", "{ k }", '"2"', "{-1.5}"]))
            )
            gap = draw(st.sampled_from(["=", "=", " = "]))
            pieces.append(f"{draw(gaps)}{name}{gap}{value}")
    return "".join(pieces)


@st.composite
def inline(draw: st.DrawFn, depth: int = 1) -> str:
    """What may stand in a line."""
    pieces: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 9 if depth else 5))
        if kind <= 2:
            pieces.append(draw(words) + draw(blanks))
        elif kind == 3:
            pieces.append(f"{{{draw(codes)}}}")
        elif kind == 4:
            pieces.append(draw(st.sampled_from(["{# note #}", "{/* {x} */}", "{# two\nlines #}"])))
        elif kind == 5:
            pieces.append(
                draw(st.sampled_from(["<br/>", "<hr />", "<token_break/>", '<let name="k" value={k + 1}/>']))
            )
        elif kind == 6:
            pieces.append(f"<scope{draw(attributes('p', 'name'))}>{draw(inline(depth - 1))}</scope>")
        elif kind == 7:
            pieces.append(
                f"<if test={{{draw(tests)}}}>{draw(inline(depth - 1))}<else/>{draw(inline(depth - 1))}</if>"
            )
        elif kind == 8:
            pieces.append(f'<for each="i" in={{{draw(lists)}}}>{draw(inline(depth - 1))}</for >')
        else:
            pieces.append(draw(st.sampled_from(["<raw>{y} <b> &lt;</raw>", "<Box/>", "<Box a={k}>in</Box>"])))
    return "".join(pieces)


@st.composite
def tag_run(draw: st.DrawFn, depth: int) -> str:
    """Several tags on one line, some of which open there."""
    pieces: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        opened, closed = draw(st.sampled_from(_RUNS))
        lead = draw(st.sampled_from(["", "", " ", "\t", "\n", "\n\t", "\n  ", "\n\u00a0"]))
        inner = draw(tag_run(depth - 1)) if depth and draw(st.booleans()) else draw(_run_texts)
        if opened.startswith("<raw"):
            inner = inner.replace("</raw>", "</RAW>")
        end = draw(st.sampled_from(["", "", "\n", "\n  "]))
        pieces.append(f"{draw(blanks)}{opened}{lead}{inner}{end}{closed}{draw(blanks)}")
    return "".join(pieces)


_run_texts = st.sampled_from(["", "a", "\t", "b\n c", "{x}", "<br/>", "\u00a0", "{# c #}"])
_RUNS = [
    ("<scope p={1}>", "</scope>"),
    ("<scope>", "</scope>"),
    ("<scope>", "</scope>"),
    ("<let name='z' value=''/><scope>", "</scope>"),
    ('<for each="i" in={xs}>', "</for>"),
    ("<if test={yes}>", "</if>"),
    ("<Box>", "</Box>"),
    ("<raw>", "</raw>"),
    ("<raw whitespace = 'keep'>", "</raw>"),
    ("<scope whitespace='keep'>", "</scope>"),
]


@st.composite
def block(draw: st.DrawFn, depth: int) -> str:
    """Lines, each with its break."""
    lead = draw(blanks)
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 13 if depth else 4))
        if kind == 0:
            lines.append(draw(blanks))
        elif kind <= 2:
            lines.append(lead + draw(inline()) + draw(blanks))
        elif kind == 3:
            lines.append(draw(blanks) + draw(words))
        elif kind == 4:
            lines.append(
                lead
                + draw(st.sampled_from(["{# note #}", "<br/>", "<empty tokens={3}/>", "<br/> <hr/>"]))
                + draw(blanks)
            )
        elif kind >= 12:
            lines.append(draw(blanks) + draw(tag_run(1)))
        else:
            opened, closed = draw(st.sampled_from(_BLOCKS))
            if opened.startswith("<scope"):
                opened = (
                    f"<scope{draw(attributes('p', 'key'))}{draw(st.sampled_from(['', '', _KEEP, _JSX]))}>"
                )
            inner = draw(block(depth - 1))
            if opened.startswith("<first"):
                inner = "".join(
                    f"{draw(blanks)}{one}\n"
                    for one in draw(st.lists(st.sampled_from(_ALTERNATIVES), max_size=3))
                )
            if opened == "<raw>":
                inner = inner.replace("</raw>", "</RAW>")
            if opened.startswith(("<if", "<for")) and draw(st.booleans()):
                inner += f"{draw(blanks)}<else/>\n{draw(block(depth - 1))}"
            lines.append(f"{lead}{opened}\n{inner}{draw(blanks)}{closed}{draw(blanks)}")
    return "".join(f"{line}\n" for line in lines)


_KEEP = ' whitespace="keep"'
_JSX = " whitespace='jsx'"
_ALTERNATIVES = [
    "{x}",
    "{n}",
    "<scope p={1}>a</scope>",
    "text",
    "<Box/>",
    "<if test={no}><scope>b</scope></if>",
    "{# note #}",
    "<scope p={2}>\n   two\n  lines\n</scope>",
]
_BLOCKS = [
    ("<scope>", "</scope>"),
    ("<scope>", "</scope>"),
    ("<isolate token_limit={9}>", "</isolate>"),
    ("<if test={yes}>", "</if>"),
    ("<if test={ no }>", "</if>"),
    ('<for  each="i" in={xs}>', "</for>"),
    ('<for each="i" in={none}>', "</for>"),
    ("<Box>", "</Box>"),
    ("<Box a={2}>", "</Box>"),
    ("<first>", "</first>"),
    ("<raw>", "</raw>"),
]


@st.composite
def templates(draw: st.DrawFn) -> str:
    """A template: plain, or a chat; in one of the modes."""
    mode = draw(st.sampled_from(["", "", "", "---\nwhitespace: jsx\n---\n", "---\nwhitespace: keep\n---\n"]))
    if draw(st.booleans()):
        body = draw(block(2))
    else:
        messages = [
            f"{draw(blanks)}<{role}>{draw(st.sampled_from(['', chr(10)]))}{draw(block(2))}{draw(blanks)}</{role}>\n"
            for role in draw(st.lists(st.sampled_from(["user", "system", "assistant"]), max_size=3))
        ]
        body = "".join(messages)
    return mode + BOX + body


# ------------------------------------------------------------------------------------------ expressions

names = st.sampled_from(["a", "b", "xs", "it_1", "ä"])
constants = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)


def _is_canonical(operator: str, operand: Expr) -> bool:
    """Whether ``-operand`` is not itself a constant when it is read."""
    is_number = isinstance(operand, ast.Constant) and type(operand.value) in (int, float)
    return operator == "not" or not is_number or str(getattr(operand, "value", "")).startswith("-")


def _larger(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(children, max_size=3).map(tuple)
    keywords = st.dictionaries(st.sampled_from(["k", "w"]), children, max_size=2).map(
        lambda given: tuple(given.items())
    )
    optional = st.none() | children
    comparators = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"])
    return st.one_of(
        st.builds(ast.Attribute, children, names),
        st.builds(ast.Item, children, children),
        st.builds(ast.Slice, children, optional, optional, optional),
        st.builds(ast.ListOf, several),
        st.builds(ast.TupleOf, several),
        st.builds(ast.MappingOf, st.lists(st.tuples(children, children), max_size=2).map(tuple)),
        st.builds(ast.Unary, st.sampled_from(["-", "+", "not"]), children).filter(
            lambda node: node.operator == "+" or _is_canonical(node.operator, node.operand)
        ),
        st.builds(ast.Binary, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), children, children),
        st.builds(
            ast.Comparison,
            children,
            st.lists(st.tuples(comparators, children), min_size=1, max_size=2).map(tuple),
        ),
        st.builds(
            ast.Logic, st.sampled_from(["and", "or"]), st.lists(children, min_size=2, max_size=3).map(tuple)
        ),
        st.builds(ast.Conditional, children, children, children),
        st.builds(ast.Call, names, several, keywords),
        st.builds(ast.Filter, children, names, several, keywords),
        st.builds(ast.Test, children, st.sampled_from(["defined", "None"]), st.booleans()),
    )


expressions: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(constants.map(ast.Constant), names.map(ast.Name)), _larger, max_leaves=12
)
