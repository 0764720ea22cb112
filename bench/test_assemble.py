"""Assembling: from the leaves that are in to the prompt, beside one join of their texts."""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import by_shape, cached_data, fresh
from bench.shapes import Shape
from bench.stages import assembled, included, solved, stage


@by_shape()
def test_assemble(benchmark: BenchmarkFixture, shape: Shape) -> None:
    given = stage(cached_data(shape))
    leaves = included(given, solved(given))
    fresh(benchmark, assembled, lambda: (given, leaves))


@by_shape()
def test_assemble_bare_join(benchmark: BenchmarkFixture, shape: Shape) -> None:
    given = stage(cached_data(shape))
    texts = [leaf for leaf in included(given, solved(given)) if isinstance(leaf, str)]
    fresh(benchmark, "".join, lambda: (texts,))
