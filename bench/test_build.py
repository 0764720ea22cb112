"""Building: an element a scope, beside what Python takes for one bare object each."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import by_shape, cached_data, fresh
from bench.shapes import Shape, build, excerpt_of


@attrs.define(eq=False)
class Bare:
    """The least that holds a scope's priority and text."""

    p: int
    children: tuple[Any, ...]


@by_shape()
def test_build(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    tree = fresh(benchmark, build, lambda: (data,))
    assert len(tree) == len(data.lines) + len(data.messages) + len(data.firsts)


@by_shape()
def test_build_bare_objects(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    texts = (
        data.lines
        or [text for _, text in data.messages]
        or [text for kids in data.firsts for _, text in kids]
    )

    def bare(given: list[str]) -> list[Bare]:
        return [Bare(i, (text,)) for i, text in enumerate(given)]

    assert len(fresh(benchmark, bare, lambda: (texts,))) == shape.scopes


@by_shape()
def test_build_excerpt(benchmark: BenchmarkFixture, shape: Shape) -> None:
    if shape.kind != "lines":
        pytest.skip("only for lines")
    make = excerpt_of(cached_data(shape))
    fresh(benchmark, make, lambda: ())
