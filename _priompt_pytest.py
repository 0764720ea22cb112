"""The pytest plugin of priompt_py: ``prompt_snapshot``, ``--priompt-limit``, the marker ``priompt_budget``.

Every pytest of an environment with priompt_py loads this module, so it imports nothing of the package before a fixture
is used.
"""

from __future__ import annotations

import argparse
from typing import Any

import pytest

LIMITS: list[int | None] = []
"""What ``--priompt-limit`` says, for each pytest that runs in this process, the innermost last."""


def _limit(text: str) -> int:
    """The value of ``--priompt-limit``, in tokens."""
    if text.isascii() and text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"needs a whole number of tokens, 0 or more, got {text!r}")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("priompt", "budgets of prompts")
    group.addoption(
        "--priompt-limit",
        type=_limit,
        metavar="TOKENS",
        help="run budget tests at this token limit alone",
    )


def pytest_configure(config: pytest.Config) -> None:
    LIMITS.append(config.getoption("--priompt-limit"))
    config.addinivalue_line("markers", "priompt_budget: made by budget_test of priompt_py.testing")


def pytest_unconfigure() -> None:
    if LIMITS:
        LIMITS.pop()


def pytest_report_header(config: pytest.Config) -> str | None:
    limit = config.getoption("--priompt-limit")
    return None if limit is None else f"priompt: budget tests at a limit of {limit} tokens alone"


@pytest.fixture
def prompt_snapshot(request: pytest.FixtureRequest) -> Any:
    """A snapshot that shows prompts as people read them: ``assert rendered == prompt_snapshot``."""
    try:
        snapshot = request.getfixturevalue("snapshot")
        from priompt_py.testing.snapshot import PromptExtension
    except (pytest.FixtureLookupError, ImportError) as error:
        pytest.fail(
            f"prompt_snapshot needs syrupy: pip install 'priompt-py[testing]' ({type(error).__name__})",
            pytrace=False,
        )
    return snapshot.use_extension(PromptExtension)
