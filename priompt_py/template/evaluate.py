"""From expressions to functions: an expression is compiled once, and then called with the run and the names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from priompt_py.template import expression_syntax as ast
from priompt_py.template.advice import undefined
from priompt_py.template.bounds import Bounds, Budget, Fault, UndefinedFault
from priompt_py.template.builtin import signature_of
from priompt_py.template.expression_syntax import Expr
from priompt_py.template.fitting import misfit
from priompt_py.template.functions import Builtin, Context
from priompt_py.template.nodes import Sizes, size_of_tree
from priompt_py.template.source import near
from priompt_py.template.values import (
    arithmetic,
    attribute_of,
    compare,
    is_number,
    item_of,
    slice_of,
    truth_of,
)

if TYPE_CHECKING:
    from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["Evaluate", "Run", "compile_expression"]

Names: TypeAlias = Mapping[str, Any]
Evaluate: TypeAlias = "Callable[[Run, Names], Any]"


class Run:
    """One evaluation of a template with all that it calls: its budget, and where it is."""

    __slots__ = ("budget", "children", "context", "depth", "failed", "functions", "sizes", "stack", "strict")

    def __init__(
        self,
        bounds: Bounds,
        *,
        functions: Mapping[str, Callable[..., Any]],
        tokenizer: Callable[[], Tokenizer],
        strict: bool = True,
    ) -> None:
        self.budget = Budget(bounds)
        self.context = Context(self.budget, tokenizer)
        self.functions = functions
        self.strict = strict
        self.depth = 0
        self.failed: tuple[Exception, str, int] | None = None  # by what function, called where
        self.stack: list[tuple[str, int, str]] = []
        self.children: list[Any] = []
        self.sizes: Sizes = {}

    def take(self, nodes: Iterable[Any]) -> None:
        """Take nodes that are there already, with all that they hold, of the budget."""
        for node in nodes:
            count, characters = size_of_tree(node, self.sizes)
            self.budget.step(count)
            self.budget.characters(characters)


def compile_expression(node: Expr) -> Evaluate:
    """The function that evaluates an expression. It raises Fault, with the place in the expression's text."""
    return _COMPILERS[type(node)](node)


def _guarded(evaluate: Evaluate, at: int, *, soft: bool = False) -> Evaluate:
    """``evaluate``, whose faults know their place; ``soft``: what is undefined is None where that is allowed."""

    def guarded(run: Run, names: Names) -> Any:
        try:
            return evaluate(run, names)
        except Fault as fault:
            if soft and not run.strict and isinstance(fault, UndefinedFault):
                return None
            if fault.at is None:
                fault.at = at
            raise

    return guarded


def _constant(node: ast.Constant) -> Evaluate:
    value = node.value
    return lambda _run, _names: value


def _attribute(node: ast.Attribute) -> Evaluate:
    of, name = compile_expression(node.of), node.name
    return _guarded(lambda run, names: attribute_of(of(run, names), name), node.at, soft=True)


def _binary(node: ast.Binary) -> Evaluate:
    operator, left, right = node.operator, compile_expression(node.left), compile_expression(node.right)
    return _guarded(
        lambda run, names: arithmetic(operator, left(run, names), right(run, names), run.budget), node.at
    )


def _name(node: ast.Name) -> Evaluate:
    name, at = node.name, node.at

    def evaluate(run: Run, names: Names) -> Any:
        try:
            return names[name]
        except KeyError:
            if not run.strict:
                return None
            raise UndefinedFault(undefined(name, names, run.functions), at) from None

    return evaluate


def _item(node: ast.Item) -> Evaluate:
    of, index = compile_expression(node.of), compile_expression(node.index)
    return _guarded(
        lambda run, names: item_of(of(run, names), index(run, names), run.budget), node.at, soft=True
    )


def _slice(node: ast.Slice) -> Evaluate:
    of = compile_expression(node.of)
    bounds = [
        None if part is None else compile_expression(part) for part in (node.start, node.stop, node.step)
    ]

    def evaluate(run: Run, names: Names) -> Any:
        start, stop, step = (None if part is None else part(run, names) for part in bounds)
        return slice_of(of(run, names), start, stop, step, run.budget)

    return _guarded(evaluate, node.at)


def _list(node: ast.ListOf) -> Evaluate:
    parts = [compile_expression(item) for item in node.items]
    return lambda run, names: [part(run, names) for part in parts]


def _tuple(node: ast.TupleOf) -> Evaluate:
    parts = [compile_expression(item) for item in node.items]
    return lambda run, names: tuple([part(run, names) for part in parts])


def _mapping(node: ast.MappingOf) -> Evaluate:
    pairs = [(compile_expression(key), key.at, compile_expression(value)) for key, value in node.pairs]

    def evaluate(run: Run, names: Names) -> Any:
        made: dict[Any, Any] = {}
        for key, at, value in pairs:
            one = key(run, names)
            if not isinstance(one, (str, int, float, type(None))):
                raise Fault("a key is a text or a number", at)
            if isinstance(one, str):
                run.budget.compared(len(one))
            made[one] = value(run, names)
        return made

    return _guarded(evaluate, node.at)


def _unary(node: ast.Unary) -> Evaluate:
    operand = compile_expression(node.operand)
    operator = node.operator
    if operator == "not":
        return _guarded(lambda run, names: not truth_of(operand(run, names)), node.at)

    def evaluate(run: Run, names: Names) -> Any:
        value = operand(run, names)
        if not is_number(value):
            raise Fault(f"`{operator}` needs a number")
        return -value if operator == "-" else value

    return _guarded(evaluate, node.at)


def _comparison(node: ast.Comparison) -> Evaluate:
    first = compile_expression(node.first)
    rest = [(operator, compile_expression(part)) for operator, part in node.rest]

    def evaluate(run: Run, names: Names) -> bool:
        left = first(run, names)
        for operator, part in rest:
            right = part(run, names)
            if not compare(operator, left, right, run.budget):
                return False
            left = right
        return True

    return _guarded(evaluate, node.at)


def _logic(node: ast.Logic) -> Evaluate:
    parts = [compile_expression(part) for part in node.operands]
    until = node.operator == "or"

    def evaluate(run: Run, names: Names) -> Any:
        value: Any = None
        for part in parts:
            value = part(run, names)
            if truth_of(value) is until:
                break
        return value

    return _guarded(evaluate, node.at)


def _conditional(node: ast.Conditional) -> Evaluate:
    value, test, otherwise = map(compile_expression, (node.value, node.test, node.otherwise))
    return _guarded(
        lambda run, names: value(run, names) if truth_of(test(run, names)) else otherwise(run, names),
        node.test.at,
    )


def _call(node: ast.Call | ast.Filter) -> Evaluate:
    name, at = node.function, node.at
    before = (node.value,) if isinstance(node, ast.Filter) else ()
    parts = [compile_expression(part) for part in (*before, *node.arguments)]
    named = [(key, compile_expression(part)) for key, part in node.keywords]

    def evaluate(run: Run, names: Names) -> Any:
        function = run.functions.get(name)
        if function is None:
            hint = near(name, run.functions)
            raise Fault(f"there is no {'filter' if before else 'function'} {name}{hint}", at)
        positional = [part(run, names) for part in parts]
        by_name = {key: part(run, names) for key, part in named}
        run.budget.step()
        if isinstance(function, Builtin):
            return function(run.context, positional, by_name)
        try:
            return function(*positional, **by_name)
        except Exception as error:
            if isinstance(error, TypeError):
                signature = signature_of(function)
                problem = signature and misfit(name, signature, len(positional), by_name)
                if problem:
                    raise Fault(problem, at) from error
            run.failed = (error, name, at)
            raise

    return _guarded(evaluate, at)


def _filter(node: ast.Filter) -> Evaluate:
    return _default(node) if node.function == "default" else _call(node)


def _default(node: ast.Filter) -> Evaluate:
    value = compile_expression(node.value)
    if len(node.arguments) + len(node.keywords) != 1:
        return _call(node)
    other = compile_expression(node.arguments[0] if node.arguments else node.keywords[0][1])

    def evaluate(run: Run, names: Names) -> Any:
        try:
            found = value(run, names)
        except UndefinedFault:
            found = None
        return other(run, names) if found is None else found

    return evaluate


def _test(node: ast.Test) -> Evaluate:
    value, negated = compile_expression(node.value), node.negated
    if node.asks == "None":
        return lambda run, names: (value(run, names) is None) is not negated

    def evaluate(run: Run, names: Names) -> bool:
        strict, run.strict = run.strict, True
        try:
            value(run, names)
        except UndefinedFault:
            return negated
        finally:
            run.strict = strict
        return not negated

    return evaluate


_COMPILERS: dict[type, Callable[[Any], Evaluate]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Item: _item,
    ast.Slice: _slice,
    ast.ListOf: _list,
    ast.TupleOf: _tuple,
    ast.MappingOf: _mapping,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Comparison: _comparison,
    ast.Logic: _logic,
    ast.Conditional: _conditional,
    ast.Call: _call,
    ast.Filter: _filter,
    ast.Test: _test,
}
