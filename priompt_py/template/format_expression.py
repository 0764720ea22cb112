"""Expressions as text, in one form."""

from __future__ import annotations

from priompt_py.template import expression_syntax as ast
from priompt_py.template.expression_syntax import Expr

__all__ = ["expression_text"]

_CONDITIONAL, _OR, _AND, _NOT, _COMPARISON, _FILTER, _SUM, _PRODUCT, _SIGN, _POWER, _OPERAND, _ATOM = range(
    12
)
_OF_BINARY = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "**": _POWER}


def expression_text(node: Expr, quote: str = '"') -> str:
    """The text of an expression; texts in it stand in ``quote``, and don't hold the other one.

    Parsed again, it gives the same expression.
    """
    return _Writer(quote).write(node, _CONDITIONAL)


class _Writer:
    def __init__(self, quote: str) -> None:
        self._quote = quote

    def write(self, node: Expr, least: int) -> str:
        """The text, in brackets where it binds less than ``least``."""
        strength, text = self._text(node)
        return text if strength >= least else f"({text})"

    def _text(self, node: Expr) -> tuple[int, str]:
        match node:
            case ast.Constant(value=value):
                return self._constant(value)
            case ast.Name(name=name):
                return _ATOM, name
            case ast.Attribute(of=of, name=name):
                return _OPERAND, f"{self._operand(of)}.{name}"
            case ast.Item(of=of, index=index):
                return _OPERAND, f"{self._operand(of)}[{self.write(index, _CONDITIONAL)}]"
            case ast.Slice():
                return self._slice(node)
            case ast.ListOf(items=items):
                return _ATOM, f"[{self._all(items)}]"
            case ast.TupleOf(items=items):
                return _ATOM, f"({self._all(items)}{',' if len(items) == 1 else ''})"
            case ast.Call(function=function):
                return _OPERAND, f"{function}({self._arguments(node)})"
            case ast.MappingOf(pairs=pairs):
                written = [
                    f"{self.write(key, _CONDITIONAL)}: {self.write(value, _CONDITIONAL)}"
                    for key, value in pairs
                ]
                return _ATOM, f"{{{', '.join(written)}}}"
            case _:
                return self._operation(node)

    def _operation(self, node: Expr) -> tuple[int, str]:
        match node:
            case ast.Unary(operator="not", operand=operand):
                return _NOT, f"not {self.write(operand, _NOT)}"
            case ast.Unary(operator=operator, operand=operand):
                return _SIGN, f"{operator}{self.write(operand, _SIGN)}"
            case ast.Binary(operator="**", left=left, right=right):
                return _POWER, f"{self.write(left, _OPERAND)} ** {self.write(right, _SIGN)}"
            case ast.Binary(operator=operator, left=left, right=right):
                strength = _OF_BINARY[operator]
                return strength, f"{self.write(left, strength)} {operator} {self.write(right, strength + 1)}"
            case ast.Comparison(first=first, rest=rest):
                pieces = [self.write(first, _FILTER)]
                for operator, part in rest:
                    pieces += [operator, self.write(part, _FILTER)]
                return _COMPARISON, " ".join(pieces)
            case ast.Logic(operator=operator, operands=operands):
                strength = _OR if operator == "or" else _AND
                return strength, f" {operator} ".join(self.write(part, strength + 1) for part in operands)
            case ast.Conditional(value=value, test=test, otherwise=otherwise):
                chosen = f"{self.write(value, _OR)} if {self.write(test, _OR)}"
                return _CONDITIONAL, f"{chosen} else {self.write(otherwise, _CONDITIONAL)}"
            case ast.Filter(value=value, function=function):
                arguments = self._arguments(node)
                call = f"{function}({arguments})" if arguments else function
                return _FILTER, f"{self.write(value, _FILTER)} | {call}"
            case ast.Test(value=value, asks=asks, negated=negated):
                return _COMPARISON, f"{self.write(value, _FILTER)} is {'not ' if negated else ''}{asks}"
            case _:  # pragma: no cover - all others are no operations
                raise AssertionError(node)

    def _constant(self, value: object) -> tuple[int, str]:
        if isinstance(value, str):
            return _ATOM, self._string(value)
        text = repr(value)
        return (_SIGN if text.startswith("-") else _ATOM), text

    def _operand(self, node: Expr) -> str:
        is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
        return f"({self.write(node, _CONDITIONAL)})" if is_number else self.write(node, _OPERAND)

    def _slice(self, node: ast.Slice) -> tuple[int, str]:
        start, stop, step = (
            "" if part is None else self.write(part, _CONDITIONAL)
            for part in (node.start, node.stop, node.step)
        )
        end = f":{step}" if node.step is not None else ""
        return _OPERAND, f"{self._operand(node.of)}[{start}:{stop}{end}]"

    def _all(self, items: tuple[Expr, ...]) -> str:
        return ", ".join(self.write(item, _CONDITIONAL) for item in items)

    def _arguments(self, node: ast.Call | ast.Filter) -> str:
        pieces = [self.write(item, _CONDITIONAL) for item in node.arguments]
        pieces += [f"{name}={self.write(value, _CONDITIONAL)}" for name, value in node.keywords]
        return ", ".join(pieces)

    def _string(self, value: str) -> str:
        other = "'" if self._quote == '"' else '"'
        pieces: list[str] = []
        for character in value:
            escaped = _ESCAPES.get(character)
            if escaped is not None:
                pieces.append(escaped)
            elif character == self._quote:
                pieces.append(f"\\{character}")
            elif character == other and self._quote == "'":
                pieces.append("\\x22")  # inside an attribute's double quotes
            elif character < " " or character == "\x7f":
                pieces.append(f"\\x{ord(character):02x}")
            elif "\ud800" <= character <= "\udfff":
                pieces.append(f"\\u{ord(character):04x}")
            else:
                pieces.append(character)
        return f"{self._quote}{''.join(pieces)}{self._quote}"


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
