"""What providers publish about their prompt caches, as data. Read in November 2026; prices change, rules rarely.

Sources, by the letters below:

* A: OpenAI, "Prompt caching" (developers.openai.com/api/docs/guides/prompt-caching) and the cookbook's "Prompt Caching
  201": automatic from 1,024 tokens on, hits in steps of 128; before the GPT-5.6 family writing costs nothing, and what is
  held in memory is kept for 5 to 10 minutes without use.
* B: docstrings of ``PromptCacheOptions`` and ``PromptCacheBreakpoint`` in the package openai 3.57: from the GPT-5.6 family on
  an implicit breakpoint and explicit ones, of which 4 are written (3 beside the implicit one, the latest), 80 are looked for,
  without a limit of blocks; their ends are not rounded; they live for 30 minutes at least. A for their price: writing 1.25
  times the input price. The implicit one stands at the end of the newest message.
* C: OpenAI's model page of gpt-5.4 (developers.openai.com/api/docs/models); for gpt-5.6-terra others' price lists.
* D: Anthropic, "Prompt caching" (platform.claude.com/docs/en/build-with-claude/prompt-caching): at most 4 marks; an entry is
  written at each mark, and looked for at each mark and the blocks before it, 20 in all; it lives for 5 minutes after it
  was last read; shorter prompts than the model's minimum are not cached. Writing costs 1.25 times, reading 0.1 times the
  input price.
* E: Anthropic, "Pricing" (platform.claude.com/docs/en/about-claude/pricing), Claude Opus 4.8; its minimum of 1,024 is in D.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["ANTHROPIC", "OPENAI_MARKS", "OPENAI_STEPS", "RULES", "Rules"]


class Rules(NamedTuple):
    """One provider's cache.

    ``minimum`` and ``step`` are tokens (step 1: ends are not rounded), ``lifetime`` seconds after the last use.
    Of a request the latest ``marks`` are written; an entry is looked for at each of them and at the blocks before it,
    ``look_back`` in all. A cache with steps needs none. ``price`` is US dollars for a million tokens of input;
    ``read`` and ``write`` are parts of it.
    """

    name: str
    kind: Literal["steps", "marks"]
    minimum: int
    step: int
    lifetime: int
    marks: int
    look_back: int
    price: float
    read: float
    write: float
    model: str
    sources: str


OPENAI_STEPS = Rules("OpenAI, steps", "steps", 1_024, 128, 300, 0, 0, 2.50, 0.10, 1.0, "gpt-5.4", "A, C")
OPENAI_MARKS = Rules(
    "OpenAI, breakpoints", "marks", 1_024, 1, 1_800, 4, 80, 2.00, 0.10, 1.25, "gpt-5.6-terra", "A, B, C"
)
ANTHROPIC = Rules("Anthropic", "marks", 1_024, 1, 300, 4, 20, 5.00, 0.10, 1.25, "Claude Opus 4.8", "D, E")
RULES = (OPENAI_STEPS, OPENAI_MARKS, ANTHROPIC)
