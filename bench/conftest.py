"""What the suites share. They are for pytest-benchmark:

pytest bench --benchmark-enable --benchmark-group-by=param:shape
"""

from __future__ import annotations

import pytest

from bench.floor import tokenise


@pytest.fixture(scope="session", autouse=True)
def loaded_vocabulary() -> None:
    """Nobody's first round should pay for loading it."""
    tokenise("any text")
