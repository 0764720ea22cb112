"""For people who want to know that their prompts keep to their budgets, and for this package's own tests.

Needs the extra ``priompt-py[testing]``. Modules are imported when one of their names is asked for, so that a program
that counts words with :class:`WordTokenizer` needs no hypothesis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from priompt_py.errors import BudgetError
    from priompt_py.preview.squeeze import dropped_order, squeeze
    from priompt_py.testing.budget import BudgetTest, budget_test
    from priompt_py.testing.checks import acheck_budget, check_budget
    from priompt_py.testing.histories import message_histories
    from priompt_py.testing.leaves import priorities, texts
    from priompt_py.testing.oracle import OracleResult, oracle_render
    from priompt_py.testing.props import props_for
    from priompt_py.testing.snapshot import PromptExtension, readable
    from priompt_py.testing.strategies import chats, elements, prompts, token_limits
    from priompt_py.testing.tokenizers import (
        CharTokenizer,
        CountingTokenizer,
        GreedyTokenizer,
        ToyBPE,
        WordTokenizer,
    )

__all__ = [
    "BudgetError",
    "BudgetTest",
    "CharTokenizer",
    "CountingTokenizer",
    "GreedyTokenizer",
    "OracleResult",
    "PromptExtension",
    "ToyBPE",
    "WordTokenizer",
    "acheck_budget",
    "budget_test",
    "chats",
    "check_budget",
    "dropped_order",
    "elements",
    "message_histories",
    "oracle_render",
    "priorities",
    "prompts",
    "props_for",
    "readable",
    "squeeze",
    "texts",
    "token_limits",
]

_MODULES = {
    "BudgetError": "priompt_py.errors",
    "BudgetTest": "priompt_py.testing.budget",
    "CharTokenizer": "priompt_py.testing.tokenizers",
    "CountingTokenizer": "priompt_py.testing.tokenizers",
    "GreedyTokenizer": "priompt_py.testing.tokenizers",
    "OracleResult": "priompt_py.testing.oracle",
    "PromptExtension": "priompt_py.testing.snapshot",
    "ToyBPE": "priompt_py.testing.tokenizers",
    "WordTokenizer": "priompt_py.testing.tokenizers",
    "acheck_budget": "priompt_py.testing.checks",
    "budget_test": "priompt_py.testing.budget",
    "chats": "priompt_py.testing.strategies",
    "check_budget": "priompt_py.testing.checks",
    "dropped_order": "priompt_py.preview.squeeze",
    "elements": "priompt_py.testing.strategies",
    "message_histories": "priompt_py.testing.histories",
    "oracle_render": "priompt_py.testing.oracle",
    "priorities": "priompt_py.testing.leaves",
    "prompts": "priompt_py.testing.strategies",
    "props_for": "priompt_py.testing.props",
    "readable": "priompt_py.testing.snapshot",
    "squeeze": "priompt_py.preview.squeeze",
    "texts": "priompt_py.testing.leaves",
    "token_limits": "priompt_py.testing.strategies",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("hypothesis", "pytest", "syrupy"):
            raise ImportError(
                f"priompt_py.testing.{name} needs {error.name}: pip install 'priompt-py[testing]'"
            ) from error
        raise
