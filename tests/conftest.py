"""What every test shares: hypothesis profiles, and no network.

Profiles: `dev` by default, `ci` where the variable CI is set, `quick` and `thorough` on request
(`--hypothesis-profile=thorough`). Nothing of priompt_py is imported here, so a broken room fails its own tests only.
"""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Times of single examples say little on a shared machine, so no profile has a deadline. `ci` is not derandomized: each
# run looks somewhere else, and prints the blob that repeats what it found.
_SLOW_MACHINE = [HealthCheck.too_slow]
settings.register_profile("dev", deadline=None, suppress_health_check=_SLOW_MACHINE)
settings.register_profile(
    "ci", deadline=None, derandomize=False, print_blob=True, suppress_health_check=_SLOW_MACHINE
)
settings.register_profile("quick", deadline=None, max_examples=20, suppress_health_check=_SLOW_MACHINE)
settings.register_profile(
    "thorough", deadline=None, max_examples=5_000, print_blob=True, suppress_health_check=_SLOW_MACHINE
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_collection_finish() -> None:
    """What is imported and collected by now stays to the end: full collections need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of tests marked `anyio`."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse every connection that would leave the machine: the package promises never to fetch anything."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any, /) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host not in ("localhost", "::1") and not host.startswith("127."):
                raise AssertionError(f"a test tried to connect to {host}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield
