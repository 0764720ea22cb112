"""The cases that the suites are stamped over, and how they are timed."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench.shapes import SHAPES, Data, Shape, data_of

__all__ = ["by_shape", "cached_data", "fresh", "note", "sizes"]

ROUNDS = 5


@lru_cache(maxsize=1)
def cached_data(shape: Shape) -> Data:
    """A shape's data; the last one is kept, since cases of one shape follow each other."""
    return data_of(shape)


def by_shape(*, most: int = 1_000_000) -> pytest.MarkDecorator:
    """A case for each shape of the table, up to a number of scopes."""
    shapes = [shape for shape in SHAPES if shape.scopes <= most]
    return pytest.mark.parametrize("shape", shapes, ids=[shape.name.replace(" ", "_") for shape in shapes])


def sizes(*numbers: int) -> pytest.MarkDecorator:
    """A case for each size of the lines shape, under 8,192 tokens."""
    shapes = [Shape("lines", number, 8_192) for number in numbers]
    return pytest.mark.parametrize("shape", shapes, ids=[f"{number:,}" for number in numbers])


def fresh(
    benchmark: BenchmarkFixture, function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]
) -> Any:
    """Time ``function`` on arguments that are made anew for each round, and not timed; garbage is collected before
    they are made. Gives what the last round gave."""

    def setup() -> tuple[tuple[Any, ...], dict[str, Any]]:
        gc.collect()
        return make(), {}

    untyped: Any = benchmark
    return untyped.pedantic(function, setup=setup, rounds=ROUNDS, warmup_rounds=1)


def note(benchmark: BenchmarkFixture, **figures: object) -> None:
    """Keep figures beside a case's times."""
    untyped: Any = benchmark
    untyped.extra_info.update(figures)
