"""The search for the cutoff, with the assembly at its end, beside a bisection that counts whole prompts."""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import by_shape, cached_data, fresh
from bench.exactness import levels_below
from bench.shapes import Shape
from bench.stages import bisect, solved, stage


@by_shape()
def test_search(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    solution = fresh(benchmark, solved, lambda: (stage(data),))
    assert solution.total <= data.limit


@by_shape(most=10_000)
def test_search_bisection(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    levels = [*reversed(levels_below(data, float("inf")))]
    fresh(benchmark, lambda: bisect(data, levels), lambda: ())
