from __future__ import annotations

import pytest

from bench.exactness import count_at, first_fault, levels_below
from bench.floor import floor
from bench.goals import main
from bench.shapes import SHAPES, Shape, build, data_of, shown_text, source_lines, text_at
from priompt_py import render


def test_quick_goals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--rounds", "1", "--only", "characters", "--only", "exact"]) == 0
    printed = capsys.readouterr().out
    assert "lines 300 / 1,000: exact" in printed
    assert "goals met" in printed


def test_the_table_is_whole() -> None:
    assert [shape.name for shape in SHAPES][::9] == ["lines 1,000 / 4,096", "lines 1,000,000 / 100,000"]
    assert len(SHAPES) == len(set(SHAPES)) == 10
    assert len(source_lines()) > 50_000


@pytest.mark.parametrize("shape", [Shape("lines", 40, 150), Shape("chat", 12, 200), Shape("firsts", 30, 0)])
def test_simple_counts_are_the_engines(shape: Shape) -> None:
    data = data_of(shape)
    tree = build(data)
    rendered = render(tree, token_limit=data.limit)
    assert first_fault(data, rendered)[0] == ""
    assert text_at(data, rendered.cutoff) == shown_text(rendered)
    assert count_at(data, rendered.cutoff) == rendered.token_count
    assert floor(tree, shown_text(rendered)) > 0
    below = levels_below(data, rendered.cutoff)
    assert below == sorted(below, reverse=True)
    wrong = render(tree, token_limit=data.limit - 30)
    assert first_fault(data, wrong)[0] == f"level {levels_below(data, wrong.cutoff)[0]} fits"
