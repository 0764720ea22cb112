"""Rendering as a whole, beside the floor; a compiled program again; a chat that has grown."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import by_shape, cached_data, fresh, note
from bench.floor import floor
from bench.shapes import ENCODING, Data, Shape, build, excerpt_of, shown_text
from priompt_py import Program, Rendered, TokenCache, compile_prompt, render


def rendered(tree: Any, limit: int, cache: TokenCache | None = None) -> Rendered:
    return render(tree, token_limit=limit, tokenizer=ENCODING, cache=cache)


@by_shape()
def test_render(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    given = fresh(benchmark, rendered, lambda: (build(data), data.limit))
    note(benchmark, tokens=given.token_count)
    assert given.token_count <= data.limit


@by_shape()
def test_render_floor(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    text = shown_text(rendered(build(data), data.limit))
    fresh(benchmark, floor, lambda: (build(data), text))


@by_shape()
def test_render_and_build(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)
    fresh(benchmark, lambda: rendered(build(data), data.limit), lambda: ())


@by_shape()
def test_render_and_build_excerpt(benchmark: BenchmarkFixture, shape: Shape) -> None:
    if shape.kind != "lines":
        pytest.skip("only for lines")
    data = cached_data(shape)
    make = excerpt_of(data)
    fresh(benchmark, lambda: rendered(make(), data.limit), lambda: ())


@by_shape()
def test_render_compiled_at_a_new_limit(benchmark: BenchmarkFixture, shape: Shape) -> None:
    data = cached_data(shape)

    def make() -> tuple[Program]:
        program = compile_prompt(build(data))
        program.render(token_limit=data.limit, tokenizer=ENCODING)
        return (program,)

    def again(program: Program) -> Rendered:
        return program.render(token_limit=data.limit * 7 // 8, tokenizer=ENCODING)

    fresh(benchmark, again, make)


@by_shape()
def test_render_with_one_turn_more(benchmark: BenchmarkFixture, shape: Shape) -> None:
    if shape.kind != "chat":
        pytest.skip("only for chats")
    data = cached_data(shape)
    shorter: Data = data._replace(messages=data.messages[:-1])

    def make() -> tuple[Any, int, TokenCache]:
        cache = TokenCache()
        rendered(build(shorter), data.limit, cache)
        return build(data), data.limit, cache

    fresh(benchmark, rendered, make)
