"""What every store has to do: one suite, for SQLite and for PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from priompt_py.context.analysis import analyse
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.context.knowledge.store import (
    Candidate,
    DocumentInfo,
    NewChunk,
    NewDocument,
    Settings,
    Store,
    Totals,
    Vector,
    Version,
)
from priompt_py.errors import KnowledgeBaseError
from tests.context.knowledge.stand_ins import near, put, unit

SETTINGS = Settings(embedder="e", dim=4, chunk_size=9, overlap=2, tokenizer="words")

Another = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgres"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Another]:
    """Opens the one database again, as another process would."""
    opened: list[Store] = []
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None

    def open_() -> Store:
        if url is None:
            store: Store = SqliteStore(tmp_path / "base.db")
        else:
            from priompt_py.context.knowledge.postgres_store import PostgresStore

            store = PostgresStore(url)
        opened.append(store)
        return store

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(another: Another) -> Store:
    made = another()
    made.settle(SETTINGS)
    return made


# ------------------------------------------------------------------------------------------ settings


def test_settings_are_those_of_whoever_came_first(another: Another) -> None:
    first, second = another(), another()
    assert first.settings() is None
    assert first.settle(SETTINGS) == SETTINGS
    assert second.settle(Settings(tokenizer="other")) == SETTINGS
    assert second.settings() == SETTINGS


def test_two_make_the_base_at_once(another: Another) -> None:
    stores = [another() for _ in range(4)]
    found: list[Settings] = []

    def settle(store: Store, size: int) -> None:
        found.append(store.settle(Settings(embedder="e", dim=4, chunk_size=size)))

    threads = [threading.Thread(target=settle, args=(store, i)) for i, store in enumerate(stores, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


# ------------------------------------------------------------------------------------------ versions


def doc(digest: str, chunks: int = 2, id_: str = "d") -> NewDocument:
    return NewDocument(id=id_, name="d.txt", digest=digest, characters=30, chunks=chunks)


def chunks(key: int, *indexes: int) -> list[NewChunk]:
    return [NewChunk(key, i, f"text {i}", 10 * i, ["text", f"number{i}"], unit(1, i, 0, 0)) for i in indexes]


def test_a_document_is_found_when_it_is_whole(store: Store) -> None:
    version = store.begin(doc("x"), now=5.0)
    assert version == Version(version.key, 0)
    assert store.write(chunks(version.key, 0), now=6.0) == {version.key: Version(version.key, 1)}
    assert store.totals() == Totals(1, 0, 0)
    assert store.lexical(["text"], 9).candidates == []
    assert store.nearest(unit(1, 0, 0, 0), 9) == []
    assert store.read_chunks([("d", 0)]) == [None]
    assert store.documents(0, 9) == [
        DocumentInfo(id="d", name="d.txt", characters=30, chunks=2, stored=1, state="indexing", touched=6.0)
    ]
    assert store.write(chunks(version.key, 1), now=7.0) == {version.key: Version(version.key, 2, True)}
    assert store.totals() == Totals(1, 2, 4)
    assert [one.chunk for one in store.lexical(["text"], 9).candidates] == [0, 1]
    assert [one.chunk for one in store.nearest(unit(1, 0, 0, 0), 9)] == [0, 1]
    assert store.documents(0, 9) == [
        DocumentInfo(
            id="d",
            name="d.txt",
            characters=30,
            chunks=2,
            stored=2,
            state="ready",
            touched=7.0,
            searchable=True,
        )
    ]


def test_going_on_where_another_ended(store: Store, another: Another) -> None:
    version = store.begin(doc("x", 3), now=1)
    store.write(chunks(version.key, 0), now=1)
    other = another()
    assert other.begin(doc("x", 3), now=2) == Version(version.key, 1)
    assert other.write(chunks(version.key, 0, 1), now=2) == {version.key: Version(version.key, 2)}
    assert store.write(chunks(version.key, 1, 2), now=2) == {version.key: Version(version.key, 3, True)}
    assert store.totals() == Totals(1, 3, 6)
    assert other.begin(doc("x", 3), now=3) == Version(version.key, 3, True)
    assert store.write(chunks(version.key, 0, 1, 2), now=3) == {version.key: Version(version.key, 3, True)}
    assert store.totals() == Totals(1, 3, 6)


def test_a_gap_is_refused(store: Store) -> None:
    version = store.begin(doc("x", 3), now=1)
    with pytest.raises(ValueError, match="chunk 2 was given where 1 was due"):
        store.write(chunks(version.key, 0, 2), now=1)
    assert store.begin(doc("x", 3), now=1) == Version(version.key, 0)


def test_new_content_takes_the_old_ones_place(store: Store) -> None:
    put(store, "d", "old words here", digest="x", vectors=[unit(1, 0, 0, 0)])
    version = store.begin(doc("y", 1), now=2)
    assert [one.text for one in store.read_chunks([("d", 0)]) if one] == ["old words here"]
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.stored, info.searchable) == ("indexing", 0, True)
    store.write(chunks(version.key, 0), now=2)
    assert [one.text for one in store.read_chunks([("d", 0)]) if one] == ["text 0"]
    assert store.lexical(["old"], 9).frequencies == {"old": 0}
    assert store.totals() == Totals(1, 1, 2)
    assert len(store.nearest(unit(1, 0, 0, 0), 9)) == 1
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.searchable) == ("ready", True)


def test_what_was_begun_goes_when_other_content_is_begun(store: Store) -> None:
    first = store.begin(doc("x"), now=1)
    store.write(chunks(first.key, 0), now=1)
    second = store.begin(doc("y"), now=2)
    assert store.write(chunks(first.key, 1), now=2) == {first.key: None}
    assert store.begin(doc("x"), now=3).stored == 0
    assert store.write(chunks(second.key, 0), now=3) == {second.key: None}


def test_stopping(store: Store) -> None:
    version = store.begin(doc("x"), now=1)
    store.write(chunks(version.key, 0), now=1)
    store.stop(version.key, "paused", "by request", now=2)
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.detail, info.stored, info.touched) == ("paused", "by request", 1, 2.0)
    store.stop(version.key, "failed", "no more", now=3)
    assert store.begin(doc("x"), now=4) == Version(version.key, 1)
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.detail, info.touched) == ("indexing", "", 4.0)
    store.write(chunks(version.key, 1), now=5)
    store.stop(version.key, "failed", "too late", now=6)
    store.stop(9_999, "failed", "unknown", now=6)
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.detail, info.touched) == ("ready", "", 5.0)


def test_a_file_that_could_not_be_read_takes_nothing_away(store: Store) -> None:
    begun = store.begin(doc("x"), now=1)
    store.write(chunks(begun.key, 0), now=1)
    unread = store.begin(NewDocument(id="d", name="d.txt"), now=2)
    store.stop(unread.key, "failed", "locked", now=2)
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.detail, info.searchable) == ("failed", "locked", False)
    assert store.begin(doc("x"), now=3) == Version(begun.key, 1)
    store.write(chunks(begun.key, 1), now=3)
    (info,) = store.find_documents(["d"])
    assert info
    assert (info.state, info.detail, info.searchable) == ("ready", "", True)


def test_deleting(store: Store) -> None:
    put(store, "a", "one two", vectors=[unit(1, 0, 0, 0)])
    put(store, "b", "two three", vectors=[unit(0, 1, 0, 0)])
    half = store.begin(doc("x", id_="c"), now=1)
    store.write(chunks(half.key, 0), now=1)
    assert store.delete(["a", "c", "a", "nowhere"]) == 2
    assert store.totals() == Totals(1, 1, 2)
    assert store.lexical(["one", "two"], 9).frequencies == {"one": 0, "two": 1}
    assert [one.document for one in store.nearest(unit(1, 0, 0, 0), 9)] == ["b"]
    assert store.write(chunks(half.key, 1), now=1) == {half.key: None}
    assert store.delete([]) == 0


# ------------------------------------------------------------------------------------------ looking


def test_documents_in_the_order_of_their_ids(store: Store) -> None:
    ids = ["b", "a", "Z", "é", "ж", "a/b", "a b", "\U0001f600", "\uffee"]
    for id_ in ids:
        put(store, id_, "text", vectors=[unit(1, 0, 0, 0)])
    assert [one.id for one in store.documents(0, 99)] == sorted(ids)
    assert [one.id for one in store.documents(3, 2)] == sorted(ids)[3:5]
    assert store.documents(99, 5) == []
    assert [one and one.id for one in store.find_documents(["ж", "no", "a"])] == ["ж", None, "a"]


def test_candidates_and_what_scores_them(store: Store) -> None:
    text = "Don't state-of-the-art договор 中文字 refund refund"
    put(store, "a", text, "shipping takes days", vectors=[unit(1, 0, 0, 0), unit(0, 1, 0, 0)])
    asked = list(dict.fromkeys(analyse("refunds don\u2019t договоры state-of-the-art 中文 nothing")))
    found = store.lexical(asked, 9)
    assert found.totals == Totals(1, 2, 10)
    assert found.frequencies == {
        "refund": 1,
        "don't": 1,
        "договор": 1,
        "state-of-the-art": 1,
        "中文": 1,
        "noth": 0,
    }
    (one,) = found.candidates
    (row,) = [chunk.row for chunk in store.read_chunks([("a", 0)]) if chunk]
    counts = {"refund": 2, "don't": 1, "договор": 1, "state-of-the-art": 1, "中文": 1}
    assert one == Candidate(row, "a", 0, counts, 7)


def test_no_more_candidates_than_asked_for(store: Store) -> None:
    rare = "rare " * 3
    for n in range(30):
        put(store, f"d{n:02}", f"common word{n}" + (rare if n == 17 else ""), vectors=[unit(1, 0, 0, 0)])
    found = store.lexical(["common", "rare"], 5)
    assert found.frequencies == {"common": 30, "rare": 1}
    assert len(found.candidates) == 5
    assert "d17" in {one.document for one in found.candidates}


def test_texts_that_look_like_queries(store: Store) -> None:
    put(store, "a", 'NOT "OR" AND NEAR( a* x:y \x00 % _ \\ \' ;--', vectors=[unit(1, 0, 0, 0)])
    for word in ("not", "or", "and", "near"):
        assert store.lexical([word], 5).frequencies == {word: 1}
        assert len(store.lexical([word], 5).candidates) == 1
    assert store.lexical(["a:*", "x & y", "!"], 5).candidates == []


def test_many_stems(store: Store) -> None:
    put(store, "a", "word9 word77", vectors=[unit(1, 0, 0, 0)])
    found = store.lexical([f"word{n}" for n in range(2_000)], 5)
    assert sum(found.frequencies.values()) == 2
    assert [dict(one.counts) for one in found.candidates] == [{"word9": 1, "word77": 1}]


def test_equal_vectors_are_in_the_order_of_documents_and_chunks(store: Store) -> None:
    same = unit(1, 2, 3, 4)
    put(store, "b", "x", "y", vectors=[same, same])
    put(store, "a", "x", vectors=[same])
    put(store, "c", "x", vectors=[unit(4, -3, 2, -1)])
    found = store.nearest(same, 9)
    assert [(one.document, one.chunk) for one in found] == [("a", 0), ("b", 0), ("b", 1), ("c", 0)]
    assert [one.cosine for one in found] == near([1, 1, 1, 0])
    assert [(one.document, one.chunk) for one in store.nearest(same, 2)] == [("a", 0), ("b", 0)]


def test_nearest_is_exact_while_documents_come_and_go(store: Store, another: Another) -> None:
    generator = np.random.default_rng(1)
    vectors: dict[str, list[Vector]] = {}
    query = unit(*generator.normal(size=4))
    other = another()
    for n in range(12):
        vectors[f"d{n}"] = [unit(*generator.normal(size=4)) for _ in range(n + 1)]
        put(other if n % 2 else store, f"d{n}", *["t"] * (n + 1), vectors=vectors[f"d{n}"])
        if n % 3 == 2:
            other.delete([f"d{n - 1}"])
            del vectors[f"d{n - 1}"]
        expected = sorted(
            ((float(v.astype(np.float64) @ query.astype(np.float64)), d, i))
            for d, own in vectors.items()
            for i, v in enumerate(own)
        )[::-1][:5]
        found = store.nearest(query, 5)
        assert [(one.document, one.chunk) for one in found] == [(d, i) for _, d, i in expected]
        assert [one.cosine for one in found] == near([c for c, _, _ in expected])


def test_chunks_in_the_order_asked_for(store: Store) -> None:
    put(store, "a", "first", "second", vectors=[unit(1, 0, 0, 0)] * 2)
    found = store.read_chunks([("a", 1), ("b", 0), ("a", 0), ("a", 2), ("a", 1)])
    assert [one and one.text for one in found] == ["second", None, "first", None, "second"]
    second = found[0]
    assert second
    assert (second.name, second.start, second.document, second.chunk) == ("a.txt", 10, "a", 1)
    first = found[2]
    assert first
    assert store.read_rows([second.row, 999_999, first.row]) == [second, None, first]
    assert store.read_rows([]) == []


def test_closed(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(KnowledgeBaseError, match="was closed") as caught:
        store.totals()
    assert caught.value.reason == "closed"
