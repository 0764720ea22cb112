"""The face of a knowledge base: opening, settings, documents, and reading them again."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as give
from hypothesis import strategies as st

from priompt_py.context import Attachment, DocumentInfo, KnowledgeBase
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.context.knowledge.store import Settings, Totals
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, KnowledgeBaseError, TokenizerError
from priompt_py.testing import CharTokenizer, WordTokenizer
from priompt_py.tokens.tokenizer import from_count
from tests.context.knowledge.stand_ins import WORDS, Hashed, note, words


def test_the_defaults(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "base.db") as base:
        assert base.settings == Settings(
            embedder=None, dim=None, chunk_size=512, overlap=50, tokenizer="o200k_base"
        )
        assert base.place == str(tmp_path / "base.db")
        assert repr(base) == f"KnowledgeBase({str(tmp_path / 'base.db')!r})"
        assert base.documents() == []
        assert base.totals() == Totals(0, 0, 0)
    with pytest.raises(KnowledgeBaseError, match="the knowledge base was closed"):
        base.search("x")


def test_smaller_chunks_share_a_tenth(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "base.db", chunk_size=100, tokenizer=WORDS) as base:
        assert (base.settings.chunk_size, base.settings.overlap) == (100, 10)
        base.add(note("a", words(250)))
        chunks = [one for one in base.read_chunks([("a", i) for i in range(4)]) if one]
        assert [one.text.split()[0] for one in chunks] == ["w0", "w90", "w180"]


def test_a_base_keeps_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    embedder = Hashed(dim=8)
    with KnowledgeBase.open(path, embedder, chunk_size=20, overlap=3, tokenizer=WORDS) as base:
        settings = base.settings
    assert settings == Settings(embedder="hashed", dim=8, chunk_size=20, overlap=3, tokenizer=WORDS.name)
    with KnowledgeBase.open(path, Hashed(dim=8), tokenizer=WordTokenizer()) as base:
        assert base.settings == settings


@pytest.mark.parametrize(
    ("options", "detail"),
    [
        ({"chunk_size": 30}, "it was made with chunk_size=20, not 30"),
        ({"overlap": 0}, "it was made with overlap=3, not 0"),
        ({"tokenizer": CharTokenizer()}, "it was made with tokenizer='words', not 'characters'"),
        ({"embedder": Hashed(name="other")}, "it was made with embedder='hashed', not 'other'"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, options: Any, detail: str) -> None:
    path = tmp_path / "base.db"
    KnowledgeBase.open(path, Hashed(), chunk_size=20, overlap=3, tokenizer=WORDS).close()
    with pytest.raises(KnowledgeBaseError) as caught:
        KnowledgeBase.open(path, **options)
    shown = detail.replace("'words'", repr(WORDS.name)).replace("'characters'", repr(CharTokenizer().name))
    assert (caught.value.reason, caught.value.detail) == ("settings", shown)


def test_vectors_come_with_the_base_or_not_at_all(tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path / "base.db").close()
    with pytest.raises(KnowledgeBaseError) as caught:
        KnowledgeBase.open(tmp_path / "base.db", Hashed())
    assert caught.value.detail == (
        "it was made without an embedder, and holds no vectors; open it without one, or make another base"
    )


def test_a_tokenizer_of_ones_own_is_needed_to_add(tmp_path: Path) -> None:
    mine = from_count(WORDS.count, name="my words")
    with KnowledgeBase.open(tmp_path / "base.db", tokenizer=mine) as base:
        base.add(note("a", "text"))
    with KnowledgeBase.open(tmp_path / "base.db") as base:
        assert len(base.search("text")) == 1
        with pytest.raises(TokenizerError, match="my words"):
            base.add(note("b", "text"))


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        ({"place": 7}, ArgumentTypeError, "open() needs a path or a URL for place, got place=7 (int)"),
        (
            {"embedder": 7},
            ArgumentTypeError,
            "KnowledgeBase() needs an object with name, dim and embed for embedder, got 7 (int)",
        ),
        (
            {"reranker": 7},
            ArgumentTypeError,
            "KnowledgeBase() needs an object with a method rerank for reranker, got 7 (int)",
        ),
        ({"chunk_size": 0}, ArgumentValueError, "KnowledgeBase() needs chunk_size >= 1, got chunk_size=0"),
        (
            {"chunk_size": 5, "overlap": 5},
            ArgumentValueError,
            "KnowledgeBase() needs overlap < chunk_size, got overlap=5 and chunk_size=5",
        ),
        (
            {"overlap": 512},
            ArgumentValueError,
            "KnowledgeBase() needs overlap < chunk_size, got overlap=512 and chunk_size=512",
        ),
        ({"tokenizer": "no-such"}, TokenizerError, "no-such"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: Any, kind: type[Exception], sentence: str) -> None:
    given: dict[str, Any] = {"place": tmp_path / "base.db", **arguments}
    with pytest.raises(kind) as caught:
        KnowledgeBase.open(**given)
    assert sentence in str(caught.value)


def test_a_url_of_postgresql(postgres: str) -> None:
    with KnowledgeBase.open(postgres, Hashed()) as base:
        base.add(note("a", "refunds"))
        assert [hit.source_id for hit in base.search("refund")] == ["a"]
        assert base.documents()[0].state == "ready"


# ------------------------------------------------------------------------------------------ documents


def test_documents_page_by_page(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "base.db", tokenizer=WORDS) as base:
        base.add([note(f"n{n}", f"text {n}") for n in range(5)])
        assert [one.id for one in base.documents()] == ["n0", "n1", "n2", "n3", "n4"]
        assert [one.id for one in base.documents(offset=3)] == ["n3", "n4"]
        assert [one.id for one in base.documents(offset=1, limit=2)] == ["n1", "n2"]
        assert base.documents(limit=0) == []
        (info,) = base.find_documents(["n4"])
        assert info == DocumentInfo(
            id="n4",
            name="n4.txt",
            characters=6,
            chunks=1,
            stored=1,
            state="ready",
            touched=info.touched if info else 0.0,
            searchable=True,
        )
        with pytest.raises(ArgumentValueError, match=r"documents\(\) needs offset >= 0, got offset=-1"):
            base.documents(offset=-1)
        with pytest.raises(ArgumentTypeError, match=r"find_documents\(\) needs text for ids"):
            base.find_documents([7])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


def test_deleting(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "base.db", Hashed()) as base:
        base.add([note("a", "alpha"), note("b", "beta"), note("c", "gamma")])
        assert base.delete("a") == 1
        assert base.delete(["a", "b", "nowhere"]) == 1
        assert [one.id for one in base.documents()] == ["c"]
        assert [hit.source_id for hit in base.search("alpha")] == ["c"]  # a vector is near to something


def test_reading_a_document_again(tmp_path: Path) -> None:
    text = (
        "# Title\n\nFirst paragraph, quite long enough for this.\n\n\n  Second one.  It goes on.\nA line.\n"
    )
    with KnowledgeBase.open(tmp_path / "base.db", chunk_size=6, overlap=2, tokenizer=WORDS) as base:
        base.add([Attachment("a", "a.md", text=text), note("long", words(3_000))])
        assert base.read("a").split() == text.split()
        assert base.read("long") == words(3_000)
        with pytest.raises(ArgumentValueError) as caught:
            base.read("nowhere")
        assert str(caught.value) == "read(): there is no document 'nowhere' that can be searched"
        base.add(note("empty", " "))
        with pytest.raises(ArgumentValueError, match="'empty'"):
            base.read("empty")


@give(st.text(alphabet="ab c.\n中。", max_size=300), st.integers(1, 12), st.data())
def test_no_word_is_lost(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    store = SqliteStore(":memory:")
    with KnowledgeBase(store, chunk_size=size, overlap=overlap, tokenizer=CharTokenizer()) as base:
        report = base.add(Attachment("a", "a", text=text))
        if not text.strip():
            assert report.documents[0].detail == "it holds no text"
        else:
            assert "".join(base.read("a").split()) == "".join(text.split())


def test_threads_share_a_base(tmp_path: Path) -> None:
    base = KnowledgeBase.open(tmp_path / "base.db", Hashed(), tokenizer=WORDS, chunk_size=10)
    problems: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for i in range(5):
                base.add(note(f"d{n}-{i}", f"thread{n} text{i} " + words(30)))
                assert base.search(f"thread{n} text{i}")
        except BaseException as error:  # noqa: BLE001 - told to the test's own thread
            problems.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert base.totals().documents == 20
    base.close()


@pytest.mark.parametrize(
    ("dim", "error", "said"),
    [
        (0, ArgumentValueError, "KnowledgeBase() needs an embedder with dim >= 1, got dim=0"),
        (
            None,
            ArgumentTypeError,
            "KnowledgeBase() needs a whole number for the embedder's dim, got None (NoneType)",
        ),
        (
            "4",
            ArgumentTypeError,
            "KnowledgeBase() needs a whole number for the embedder's dim, got '4' (str)",
        ),
    ],
)
def test_an_embedder_of_no_size(tmp_path: Path, dim: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        KnowledgeBase.open(tmp_path / "base.db", Hashed(dim=dim))
    assert str(caught.value) == said
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_another_process_is_making(tmp_path: Path) -> None:
    """Its settings are the other's matter: a search that comes too early sets none."""
    store = SqliteStore(tmp_path / "base.db")
    with pytest.raises(KnowledgeBaseError) as caught:
        KnowledgeBase.open(tmp_path / "base.db", create=False)
    assert caught.value.reason == "missing"
    assert store.settings() is None
    store.close()
