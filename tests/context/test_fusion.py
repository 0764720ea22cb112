"""Two rankings as one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import Hit
from priompt_py.context.fusion import fuse, fuse_hits


def test_places_count() -> None:
    assert fuse(["a", "b", "c"], ["b", "d"]) == [
        ("b", 1 / 62 + 1 / 61),
        ("a", 1 / 61),
        ("d", 1 / 62),
        ("c", 1 / 63),
    ]


def test_ties_go_by_document_and_chunk() -> None:
    one, two, three = ("d1", 2), ("d1", 10), ("d2", 0)
    assert [key for key, _ in fuse([three], [one])] == [one, three]
    assert [key for key, _ in fuse([two, three], [three, two], [one])] == [two, three, one]


def test_only_the_first_of_each() -> None:
    long = [f"x{n:02}" for n in range(30)]
    assert [key for key, _ in fuse(long, [])] == long[:20]
    assert dict(fuse(long, ["x25"]))["x25"] == 1 / 61
    assert [key for key, _ in fuse(long, first=2)] == ["x00", "x01"]
    assert fuse(["a"], k=0) == [("a", 1.0)]


def test_what_a_ranking_holds_twice() -> None:
    assert fuse(["a", "a", "b"]) == [("a", 1 / 61), ("b", 1 / 62)]
    assert fuse() == fuse([], []) == []


def test_hits() -> None:
    near, both = Hit("near", 0.8, "f", 1), Hit("both", 0.7, "f", 2)
    word, same = Hit("word", 0.4, "e", 0), Hit("both", 0.3, "f", 2)
    found = fuse_hits([near, both], [same, word])
    assert [(hit.text, hit.affinity, hit.rank_score) for hit in found] == [
        ("both", 0.7, 1 / 62 + 1 / 61),
        ("near", 0.8, 1 / 61),
        ("word", 0.4, 1 / 62),
    ]
    assert [hit.text for hit in fuse_hits([], [word])] == ["word"]
    order = {"f": 0, "e": 1}
    tied = fuse_hits([word], [near], key=lambda hit: (order[hit.source_id], hit.chunk))
    assert [hit.text for hit in tied] == ["near", "word"]


RANKING = st.lists(st.integers(0, 30), unique=True, max_size=25)


@given(RANKING, RANKING)
def test_order_of_rankings_makes_no_difference(one: list[int], two: list[int]) -> None:
    fused = fuse(one, two)
    assert fused == fuse(two, one)
    assert {key for key, _ in fused} == {*one[:20], *two[:20]}
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    if one and two and one[0] == two[0]:
        assert fused[0] == (one[0], 2 / 61)
