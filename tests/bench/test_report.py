from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.peers.measure import difference
from bench.peers.plot import Series, svg
from bench.peers.report import goals, page, table
from bench.peers.results import PeerResult, Results, Row, read, write
from bench.peers.run import picture


def result(build: float, render: float, *, tokens: int = 8_000, cutoff: float = 7) -> PeerResult:
    ours = [0.010] * 5
    return PeerResult(
        [build] * 5,
        [render] * 5,
        beside_build=ours,
        beside_render=ours,
        tokens=tokens,
        cutoff=cutoff,
        text="same",
    )


def row(scopes: int = 10_000, limit: int = 8_192, *, tokens: int = 8_000, **others: PeerResult) -> Row:
    ours = PeerResult(
        [0.010] * 5,
        [0.010] * 5,
        floor=[0.005] * 5,
        cpu=[0.010] * 5,
        floor_cpu=[0.005] * 5,
        tokens=tokens,
        cutoff=7,
    )
    return Row(f"lines {scopes:,} / {limit:,}", "lines", scopes, limit, {"ours": ours, **others})


def judged(one: Row) -> dict[str, tuple[str, bool]]:
    return {
        goal.name.removeprefix(f"{one.name}: "): (goal.shown, goal.met) for goal in goals(Results({}, [one]))
    }


def test_table() -> None:
    assert table(["a", "b"], [["x", "1"], ["y", "2"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n| y | 2 |\n"


def test_goals_by_size_of_the_prompt() -> None:
    render, whole = "faster than Priompt, render", "faster than Priompt, build and render"
    found = judged(row(original=result(0.010, 0.050)))
    assert found[render] == ("5.0×", True)
    assert found[whole] == ("3.0×", True)
    assert found["by the floor"] == ("2.00×", True)
    assert judged(row(tokens=50_000, original=result(0.010, 0.050)))[render] == ("5.0×", False)
    assert judged(row(original=result(0.001, 0.037)))[whole] == ("1.9×", False)
    assert judged(row(100_000, original=result(0.001, 0.037)))[whole] == ("1.9×", True)


def test_goals_of_peers_that_did_not_come_through_are_left_out() -> None:
    failed = result(0.010, 0.050)
    failed.fault = "RangeError: Maximum call stack size exceeded"
    assert [*judged(row(original=failed))] == ["by the floor"]


def test_goals_of_an_excerpt_and_a_million() -> None:
    one = row(1_000_000, 100_000, original=result(1.0, 1.0))
    one.results["ours"].excerpt = [0.5] * 5
    found = judged(one)
    assert found["faster than Priompt through `excerpt`, build and render"] == ("4.0×", False)
    assert found["render"] == ("0.01 s", True)


def test_page_shows_medians_spread_ratios_and_faults() -> None:
    original = result(0.010, 0.050)
    original.render = [0.048, 0.049, 0.050, 0.051, 0.072]
    original.cutoff = 9
    failed = PeerResult(fault="RangeError: Maximum call stack size exceeded")
    text = page(Results({"rounds": "5"}, [row(original=original, pypriompt=failed)]), plot="p.svg")
    assert "| lines 10,000 / 8,192 | 8,000 | 10.0 | 50.0 (48.0–72.0), **5.0×** | stack overflow |" in text
    assert "| lines 10,000 / 8,192 | 10.0 | 5.0 | **2.00×** |" in text
    assert "same; cutoff 9 against 7" in text
    assert "* rounds: 5\n" in text
    assert text.startswith("# Performance: the figures\n")


def test_page_of_nothing() -> None:
    assert "## Goals" in page(Results({}, []), plot="p.svg")


def test_results_are_read_as_written(tmp_path: Path) -> None:
    results = Results({"a": "b"}, [row(original=result(0.1, 0.2))], [row()])
    write(results, tmp_path / "results.json")
    assert read(tmp_path / "results.json") == results


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abcd", "same"),
        ("cd", "the last 50.00% of it"),
        ("..abcd", "it, and 2 characters before it"),
        ("abc", "another, of 3 characters against 4"),
    ],
)
def test_difference(text: str, said: str) -> None:
    assert difference(text, "abcd") == said


def test_picture_is_an_svg_with_a_line_for_each_peer() -> None:
    rows = [row(size, original=result(0.1, 0.05 * size)) for size in (1_000, 10_000, 100_000)]
    root = ET.fromstring(picture(rows))  # noqa: S314 - our own
    paths = [one for one in root.iter() if one.tag.endswith("path") and "line" in one.get("class", "")]
    assert [one.get("class") for one in paths] == ["line s-ours", "line s-original", "line s-floor"]
    assert len([one for one in root.iter() if one.tag.endswith("circle")]) == 9


def test_picture_keeps_labels_apart_and_inside() -> None:
    same = [Series(key, key, [(10, 1.0), (100, 1.0)]) for key in ("ours", "original", "poet")]
    root = ET.fromstring(svg("a < b", same))  # noqa: S314 - our own
    heights = [float(one.get("y", "")) for one in root.iter() if one.get("class", "").startswith("t-")]
    assert [b - a for a, b in pairwise(heights)] == [15, 15]
    assert svg("nothing", []).endswith("</svg>\n")
