"""Vectors on their way to PostgreSQL in pgvector's binary form: their text form takes five times the time and room."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    from priompt_py.context.knowledge.store import Vector

__all__ = ["copy_vectors"]


class _Sent:
    """A vector in pgvector's binary form: its size and an unused number as int16, then its float32, big-endian."""

    __slots__ = ("data",)

    def __init__(self, vector: Vector) -> None:
        self.data: bytes = len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f4").tobytes()


def copy_vectors(db: psycopg.Connection[Any], rows: Sequence[tuple[int, int, int, Vector]]) -> None:
    """Store vectors: their row, the key of their version, the index of their chunk, and they themselves."""
    if not rows:
        return
    _register(db)
    with (
        db.cursor() as cursor,  # which knows what the connection knew when it was made
        cursor.copy("COPY priompt_kb_vectors (row, key, chunk, vector) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.set_types(["int8", "int8", "int4", "vector"])
        for row, key, chunk, vector in rows:
            copy.write_row((row, key, chunk, _Sent(vector)))


def _register(db: psycopg.Connection[Any]) -> None:
    """Let the connection know the type ``vector``, whose number is another one in each database."""
    if db.adapters.types.get("vector") is not None:
        return
    adapt: Any = import_module("psycopg.adapt")
    types: Any = import_module("psycopg.types")
    binary = import_module("psycopg.pq").Format.BINARY
    info = types.TypeInfo.fetch(db, "vector")
    info.register(db)

    def dump(_: Any, sent: _Sent) -> bytes:
        return sent.data

    dumper = type("VectorDumper", (adapt.Dumper,), {"format": binary, "oid": info.oid, "dump": dump})
    db.adapters.register_dumper(_Sent, dumper)
