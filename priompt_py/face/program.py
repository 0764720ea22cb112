"""``Program``: a prompt that was compiled once and can be rendered again and again."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from priompt_py.author.checks import got
from priompt_py.engine.assemble import Assembled
from priompt_py.engine.compile import check_pairs, compile_tree
from priompt_py.engine.expand import Expansions
from priompt_py.engine.explain import Explanation, largest_required
from priompt_py.engine.pricing import Pricing
from priompt_py.engine.recall import Recall
from priompt_py.engine.solve import Solution, solve
from priompt_py.engine.spans import make_spans
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.face import callbacks as hooks
from priompt_py.face.rendered import Rendered
from priompt_py.face.report import Report
from priompt_py.face.settings import KEEP, Settings, check_flag, settle
from priompt_py.model.curve import Curve, Why
from priompt_py.model.elements import Child
from priompt_py.model.memory import Memory
from priompt_py.model.ops import Compiled, ReserveOp
from priompt_py.model.outcome import CountKind, Decision, Outcome
from priompt_py.model.source_map import SourceMap
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.limits import LimitChoice
from priompt_py.tokens.tokenizer import kind_of

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import ConsoleRenderable, RichCast

__all__ = ["Program"]


class Program:
    """A compiled prompt. Its components have run; rendering does not run them again.

    Immutable to its users, and safe to use from several threads.
    """

    __slots__ = ("_children", "_compiled", "_expansions", "_paired", "_recorded")

    def __init__(self, children: tuple[Child, ...], expansions: Expansions) -> None:
        self._children = children
        self._expansions = expansions
        self._compiled = compile_tree(children, expansions)
        self._paired = False
        self._recorded: Compiled | None = None

    def __repr__(self) -> str:
        kind = "chat" if self._compiled.is_chat else "text"
        return f"<Program of a {kind} with {len(self._compiled.ops.leaves):,} leaves>"

    def __rich__(self) -> RichCast | ConsoleRenderable | str:
        """What rich prints of it: its elements and their priorities."""
        from rich.text import Text

        from priompt_py.face.outline import outline

        return Text("\n".join([repr(self), *outline(self.recorded())]))

    def _repr_html_(self) -> str:
        """What notebooks show of it."""
        from priompt_py.face.outline import outline

        return f"<pre>{escape(chr(10).join([repr(self), *outline(self.recorded())]))}</pre>"

    def render(
        self,
        *,
        token_limit: int | LimitChoice,
        tokenizer: object = None,
        model: str | None = None,
        chat_format: ChatFormat | None = None,
        last_message_incomplete: bool = False,
        pair_tools: bool = True,
        source_map: bool = False,
        callbacks: bool = False,
        cache: TokenCache | None = None,
        previous: Rendered | Memory | None = None,
        keep: float | Fraction = KEEP,
        refill: float | Fraction | None = None,
    ) -> Rendered:
        """Render under a limit; arguments and errors as for :func:`priompt_py.render`. Callbacks are
        fired only when asked for."""
        settings = settle(
            token_limit=token_limit,
            tokenizer=tokenizer,
            model=model,
            chat_format=chat_format,
            last_message_incomplete=last_message_incomplete,
            pair_tools=pair_tools,
            cache=cache,
            previous=previous,
            keep=keep,
            refill=refill,
        )
        check_flag("source_map", source_map)
        check_flag("callbacks", callbacks)
        pricing = self.priced(settings)
        solution = self.solve(settings, pricing)
        rendered = self.rendered(settings, pricing, solution, source_map=source_map)
        if callbacks and self._compiled.has_callbacks:
            hooks.fire(self.explain(solution, pricing).decisions())
        return rendered

    async def arender(
        self,
        *,
        token_limit: int | LimitChoice,
        tokenizer: object = None,
        model: str | None = None,
        chat_format: ChatFormat | None = None,
        last_message_incomplete: bool = False,
        pair_tools: bool = True,
        source_map: bool = False,
        callbacks: bool = False,
        cache: TokenCache | None = None,
        previous: Rendered | Memory | None = None,
        keep: float | Fraction = KEEP,
        refill: float | Fraction | None = None,
    ) -> Rendered:
        """``render`` with async callbacks and async functions of ``empty``."""
        settings = settle(
            token_limit=token_limit,
            tokenizer=tokenizer,
            model=model,
            chat_format=chat_format,
            last_message_incomplete=last_message_incomplete,
            pair_tools=pair_tools,
            cache=cache,
            previous=previous,
            keep=keep,
            refill=refill,
        )
        check_flag("source_map", source_map)
        check_flag("callbacks", callbacks)
        pricing = await self.apriced(settings)
        solution = self.solve(settings, pricing)
        rendered = self.rendered(settings, pricing, solution, source_map=source_map)
        if callbacks and self._compiled.has_callbacks:
            await hooks.afire(self.explain(solution, pricing).decisions())
        return rendered

    # -- what it can tell ---------------------------------------------------------------------

    def curve(
        self,
        *,
        token_limit: int | LimitChoice,
        tokenizer: object = None,
        model: str | None = None,
        chat_format: ChatFormat | None = None,
        last_message_incomplete: bool = False,
        pair_tools: bool = True,
        cache: TokenCache | None = None,
    ) -> Curve:
        """What the prompt costs at each level; arguments as for ``render``.

        A prompt that fits at no level has a curve too, unless limits in it are relative or an element is over a limit
        of its own: then PromptTooLong is raised.
        """
        settings = settle(
            token_limit=token_limit,
            tokenizer=tokenizer,
            model=model,
            chat_format=chat_format,
            last_message_incomplete=last_message_incomplete,
            pair_tools=pair_tools,
            cache=cache,
        )
        from priompt_py.face import inspect as inspections

        return inspections.curve(self, settings, self.priced(settings))

    def why(
        self,
        name: str,
        *,
        token_limit: int | LimitChoice,
        tokenizer: object = None,
        model: str | None = None,
        chat_format: ChatFormat | None = None,
        last_message_incomplete: bool = False,
        pair_tools: bool = True,
        cache: TokenCache | None = None,
    ) -> tuple[Why, ...]:
        """For each element with this label or path: what became of it, why, and at which limits it is in.

        The other arguments are those of ``render``. Raises ArgumentValueError where there is no such element, and
        PromptTooLong as ``curve`` does.
        """
        settings = settle(
            token_limit=token_limit,
            tokenizer=tokenizer,
            model=model,
            chat_format=chat_format,
            last_message_incomplete=last_message_incomplete,
            pair_tools=pair_tools,
            cache=cache,
        )
        from priompt_py.face import inspect as inspections

        return inspections.why(self, settings, self.priced(settings), name)

    # -- steps --------------------------------------------------------------------------------

    @property
    def compiled(self) -> Compiled:
        """The flat form."""
        return self._compiled

    def priced(self, settings: Settings) -> Pricing:
        """The costs under these settings, what functions of ``empty`` reserve included."""
        pricing = self.pricing(settings)
        pricing.reserves = self._reserve(pricing)
        return pricing

    async def apriced(self, settings: Settings) -> Pricing:
        """``priced`` with async functions of ``empty``."""
        pricing = self.pricing(settings)
        reserves: dict[int, int] = {}
        for op in self._compiled.reserve_functions:
            given = _call(op, pricing)
            reserves[id(op)] = _checked(op, await given if inspect.isawaitable(given) else given)
        pricing.reserves = reserves
        return pricing

    def pricing(self, settings: Settings) -> Pricing:
        """The costs under these settings."""
        return Pricing(
            tokenizer=settings.tokenizer,
            chat_format=settings.chat_format,
            tool_family=settings.tool_family,
            image_family=settings.image_family,
            last_message_incomplete=settings.last_message_incomplete,
            cache=settings.cache,
        )

    def _reserve(self, pricing: Pricing) -> Mapping[int, int]:
        """What the functions of ``empty`` say, each called once."""
        reserves: dict[int, int] = {}
        for op in self._compiled.reserve_functions:
            given = _call(op, pricing)
            if inspect.isawaitable(given):
                if inspect.iscoroutine(given):
                    given.close()
                raise ArgumentTypeError(
                    f"{op.path}: its function is async: render it with 'await arender(...)'"
                )
            reserves[id(op)] = _checked(op, given)
        return reserves

    def solve(self, settings: Settings, pricing: Pricing) -> Solution:
        """Find the cutoff."""
        if settings.pair_tools and not self._paired:
            check_pairs(self._compiled, self._children, self._expansions)
            self._paired = True
        return solve(
            self._compiled,
            settings.token_limit,
            pricing,
            pair_tools=settings.pair_tools and self._compiled.has_units,
            largest=lambda: largest_required(self.recorded(), pricing),
            recall=Recall(settings.previous, settings.shares),
        )

    def rendered(
        self, settings: Settings, pricing: Pricing, solution: Solution, *, source_map: bool
    ) -> Rendered:
        """What the user gets."""
        assembled = solution.assembled
        outcome = Outcome(
            text=assembled.text,
            messages=assembled.messages,
            tools=assembled.tools,
            token_count=solution.total - assembled.tokens_reserved,
            tokens_reserved=assembled.tokens_reserved,
            token_limit=settings.token_limit,
            limit_from=settings.limit_from,
            cutoff=solution.cutoff,
            config=assembled.config,
            count_kind=_count_kind(settings, assembled),
            last_message_incomplete=settings.last_message_incomplete,
            captures=assembled.captures,
            tool_definitions=assembled.tool_definitions,
            memory=solution.memory,
        )

        def decide() -> tuple[Decision, ...]:
            return tuple(decision for decision, _ in self.explain(solution, pricing).decisions())

        def spans() -> SourceMap:
            text = rendered.to_text()
            root = make_spans(
                self._children,
                self._expansions,
                self._compiled.ops,
                solution,
                settings.chat_format,
                text,
                incomplete=outcome.last_message_incomplete,
                pair_tools=settings.pair_tools and self._compiled.has_units,
            )
            return SourceMap(text, root)

        def tell() -> Report:
            from priompt_py.face.reporting import make_report

            return make_report(self.explain(solution, pricing), self._compiled, pricing, outcome)

        rendered = Rendered(
            outcome=outcome,
            tokenizer=settings.tokenizer,
            chat_format=settings.chat_format,
            decide=decide,
            spans=spans if source_map else None,
            tell=tell,
        )
        return rendered

    def explain(self, solution: Solution, pricing: Pricing) -> Explanation:
        """The recorded walk beside a solution."""
        return Explanation(self.recorded(), solution, pricing)

    def recorded(self) -> Compiled:
        """The tree compiled with its entries; kept, since it is only made when somebody asks."""
        if self._recorded is None:
            self._recorded = compile_tree(self._children, self._expansions, record=True)
        return self._recorded


def _count_kind(settings: Settings, assembled: Assembled) -> CountKind:
    """How sure the count is: a picture of unknown size is counted as the most that it can cost."""
    kind = kind_of(settings.tokenizer)
    return "upper_bound" if assembled.has_unsized_image and kind == "exact" else kind


def _call(op: ReserveOp, pricing: Pricing) -> Any:
    function = op.element.tokens
    assert callable(function)
    try:
        return function(pricing.count)
    except Exception as error:
        error.add_note(f"in {op.path}")
        raise


def _checked(op: ReserveOp, tokens: Any) -> int:
    if type(tokens) is not int:
        raise ArgumentTypeError(
            f"{op.path}: its function has to give a whole number of tokens, it gave {got(tokens)}"
        )
    if tokens < 0:
        raise ArgumentValueError(f"{op.path}: its function has to give 0 tokens or more, it gave {tokens}")
    return tokens
