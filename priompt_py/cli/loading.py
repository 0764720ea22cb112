"""A source compiled once, for commands that look at it more than once and fire no callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.cli.faults import prompt_code
from priompt_py.cli.rendering import PromptOptions, needed_limit, with_source
from priompt_py.cli.sources import Source
from priompt_py.errors import PromptTooLong
from priompt_py.preview.compiling import compiled, priced

if TYPE_CHECKING:
    from priompt_py.engine.pricing import Pricing
    from priompt_py.face.program import Program
    from priompt_py.face.rendered import Rendered
    from priompt_py.face.settings import Settings
    from priompt_py.model.curve import Curve, Why
    from priompt_py.model.memory import Memory

__all__ = ["Loaded", "load"]

BOUNDLESS = 1 << 40
"""The limit, in tokens, of a curve that was asked for without one."""


@attrs.frozen(eq=False)
class Loaded:
    """A compiled prompt and what its renders are made with; ``name`` is what messages call it."""

    name: str
    program: Program
    settings: Settings
    pricing: Pricing

    def render(self, *, source_map: bool = False) -> Rendered:
        """The render under the limit; no callbacks are fired. Raises Fault."""
        with prompt_code(self.name):
            solution = self.program.solve(self.settings, self.pricing)
            return self.program.rendered(self.settings, self.pricing, solution, source_map=source_map)

    def fits(self) -> bool:
        """Whether the prompt fits its limit."""
        try:
            self.program.solve(self.settings, self.pricing)
        except PromptTooLong:
            return False
        return True

    def curve(self, progress: Callable[[int, int], object] | None = None) -> Curve:
        """What each level costs. Raises Fault."""
        from priompt_py.face.inspect import curve

        with prompt_code(self.name):
            return curve(self.program, self.settings, self.pricing, progress)

    def why(self, name: str) -> tuple[Why, ...]:
        """Why each element of this name is in or out. Raises Fault, and ArgumentValueError for an unknown name."""
        from priompt_py.face.inspect import why

        return why(self.program, self.settings, self.pricing, name)


def load(options: PromptOptions, *, needs_limit: bool = True, previous: Memory | None = None) -> Loaded:
    """Load the source, make its node and compile it. ``previous`` is what renders remember. Raises Fault; without
    ``needs_limit`` there need be none."""

    def run(source: Source, props: Mapping[str, Any], limit: int | None, tokenizer: str) -> Loaded:
        from priompt_py.face.settings import settle

        if needs_limit:
            limit = needed_limit(source, limit)
        program = compiled(lambda: source.build(props))
        if program.compiled.has_relative_limits:
            limit = needed_limit(source, limit)
        settings = settle(
            token_limit=BOUNDLESS if limit is None else limit,
            tokenizer=tokenizer,
            model=options.model,
            chat_format=None,
            last_message_incomplete=options.last_message_incomplete,
            pair_tools=True,
            cache=None,
            previous=previous,
        )
        return Loaded(source.name, program, settings, priced(program, settings))

    return with_source(options, run)
