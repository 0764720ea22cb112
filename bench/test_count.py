"""Counting: the final prompt at once, line by line, and line by line when the counts are known."""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import by_shape, cached_data, fresh, note
from bench.counting import CountingTokenizer
from bench.floor import tokenise
from bench.shapes import ENCODING, Data, Shape, build, shown_text
from priompt_py import TokenCache, get_tokenizer, render


def shown(data: Data) -> str:
    return shown_text(render(build(data), token_limit=data.limit, tokenizer=ENCODING))


@by_shape()
def test_count_at_once(benchmark: BenchmarkFixture, shape: Shape) -> None:
    text = shown(cached_data(shape))
    note(benchmark, tokens=fresh(benchmark, tokenise, lambda: (text,)))


@by_shape()
def test_count_by_lines(benchmark: BenchmarkFixture, shape: Shape) -> None:
    lines = shown(cached_data(shape)).splitlines(keepends=True)

    def count(given: list[str]) -> int:
        return sum(map(get_tokenizer(ENCODING).count, given))

    fresh(benchmark, count, lambda: (lines,))


@by_shape()
def test_count_by_lines_known(benchmark: BenchmarkFixture, shape: Shape) -> None:
    lines = shown(cached_data(shape)).splitlines(keepends=True)
    known = TokenCache().counter(get_tokenizer(ENCODING))
    sum(map(known, lines))

    def count(given: list[str]) -> int:
        return sum(map(known, given))

    fresh(benchmark, count, lambda: (lines,))


@by_shape()
def test_count_for_a_render(benchmark: BenchmarkFixture, shape: Shape) -> None:
    """A render with a tokenizer that counts its own work: how often it is called, for how many characters."""
    data = cached_data(shape)
    tokenizer = CountingTokenizer()
    tree = build(data)
    fresh(benchmark, lambda: render(tree, token_limit=data.limit, tokenizer=tokenizer), lambda: ())
    note(benchmark, characters=tokenizer.chars, calls=tokenizer.calls)
