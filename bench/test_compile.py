"""Compiling: from the tree to leaves with intervals, beside a bare visit of every node."""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import by_shape, cached_data, fresh, note, sizes
from bench.floor import visit
from bench.shapes import Shape, build
from priompt_py import compile_prompt


@by_shape()
def test_compile(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    fresh(benchmark, compile_prompt, lambda: (build(data),))


@by_shape()
def test_compile_bare_visit(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    fresh(benchmark, visit, lambda: (build(data),))


@sizes(1_000, 10_000, 100_000, 1_000_000)
def test_compile_stays_level(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    fresh(benchmark, compile_prompt, lambda: (build(data),))

    note(benchmark, scopes=shape.scopes)
