"""Bringing documents in: batches, pauses, failures, changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context import Added, AddProgress, AddReport, Attachment, KnowledgeBase
from priompt_py.context.knowledge.ingest import embedded_text
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DocumentError,
    EmbedderError,
    KnowledgeBaseError,
)
from tests.context.knowledge.stand_ins import (
    WORDS,
    Failing,
    Hashed,
    Later,
    Ticks,
    everything,
    not_numbers,
    note,
    nothing,
    too_few,
    too_short,
    words,
)

Open = Callable[..., KnowledgeBase]


@pytest.fixture
def open_base(tmp_path: Path) -> Iterator[Open]:
    """Opens the base of the test, whose chunks are ten words without overlap."""
    opened: list[KnowledgeBase] = []

    def open_(embedder: Any = None, *, name: str = "base.db", **options: Any) -> KnowledgeBase:
        store = SqliteStore(tmp_path / name, wait=5)
        given: dict[str, Any] = {"chunk_size": 10, "overlap": 0, "tokenizer": WORDS, **options}
        base = KnowledgeBase(store, embedder, **given)
        opened.append(base)
        return base

    yield open_
    for base in opened:
        base.close()


def told(report: AddReport) -> list[tuple[str, str, int, int, str]]:
    return [(one.id, one.status, one.stored, one.chunks, one.detail) for one in report.documents]


# ------------------------------------------------------------------------------------------ batches


def test_chunks_are_embedded_with_their_files_name_in_batches_of_fifty(open_base: Open) -> None:
    embedder = Hashed()
    base = open_base(embedder)
    report = base.add(note("a", words(1_203)))
    assert told(report) == [("a", "added", 121, 121, "")]
    assert [(len(texts), kind) for texts, kind in embedder.asked] == [
        (50, "passage"),
        (50, "passage"),
        (21, "passage"),
    ]
    assert embedder.asked[0][0][0] == "a.txt\n\nw0 w1 w2 w3 w4 w5 w6 w7 w8 w9."
    assert embedder.asked[2][0][20] == embedded_text("a.txt", "w1200 w1201 w1202")
    assert (base.settings.embedder, base.settings.dim) == ("hashed", 16)


def test_short_documents_share_a_batch(open_base: Open) -> None:
    embedder = Hashed()
    report = open_base(embedder).add([note(f"n{n:03}", f"text {n}") for n in range(120)], batch=40)
    assert {one.status for one in report.documents} == {"added"}
    assert [len(texts) for texts, _ in embedder.asked] == [40, 40, 40]


def test_without_an_embedder_there_are_only_words(open_base: Open) -> None:
    base = open_base()
    assert told(base.add(note("a", "one two"))) == [("a", "added", 1, 1, "")]
    assert (base.settings.embedder, base.settings.dim) == (None, None)


def test_what_has_not_changed_is_left_alone(open_base: Open) -> None:
    embedder = Hashed()
    base = open_base(embedder)
    base.add([note("a", words(25)), note("b", "short")])
    calls = len(embedder.asked)
    report = base.add([note("a", words(25)), note("b", "other"), note("c", "new")])
    assert told(report) == [
        ("a", "unchanged", 3, 3, ""),
        ("b", "updated", 1, 1, ""),
        ("c", "added", 1, 1, ""),
    ]
    assert [texts for texts, _ in embedder.asked[calls:]] == [["b.txt\n\nother", "c.txt\n\nnew"]]
    assert base.totals().chunks == 5


def test_a_new_name_is_new_content(open_base: Open) -> None:
    base = open_base()
    base.add(Attachment("a", "old.txt", text="text"))
    report = base.add(Attachment("a", "new.txt", text="text"))
    assert [(one.status, one.name) for one in report.documents] == [("updated", "new.txt")]
    assert base.totals().chunks == 1


def test_one_document_twice(open_base: Open) -> None:
    report = open_base().add([note("a", "x"), note("a", "y")])
    assert told(report) == [("a", "added", 1, 1, ""), ("a", "skipped", 0, 0, "it was given twice")]


# ------------------------------------------------------------------------------------------ pauses and ends


def test_pausing_between_batches_and_going_on(open_base: Open) -> None:
    embedder = Hashed()
    base = open_base(embedder)
    sources = [note("a", words(60)), note("b", words(90)), note("c", "x")]
    report = base.add(sources, batch=5, should_pause=lambda: len(embedder.asked) >= 2)
    rest = "chunks are stored; adding it again goes on from there"
    assert told(report) == [
        ("a", "added", 6, 6, ""),
        ("b", "paused", 4, 9, f"4 of 9 {rest}"),
        ("c", "paused", 0, 0, "it was not begun"),
    ]
    assert report.paused
    assert [(one.state, one.detail) for one in base.documents()] == [
        ("ready", ""),
        ("paused", f"4 of 9 {rest}"),
    ]
    assert told(base.add(sources, batch=5)) == [
        ("a", "unchanged", 6, 6, ""),
        ("b", "added", 9, 9, ""),
        ("c", "added", 1, 1, ""),
    ]
    assert [len(texts) for texts, _ in embedder.asked] == [5, 5, 5, 1]
    undisturbed = open_base(Hashed(), name="other.db")
    undisturbed.add(sources)
    assert everything(base)[:2] == everything(undisturbed)[:2]


def test_pausing_at_once(open_base: Open) -> None:
    base = open_base()
    report = base.add([note("a", "x"), note("b", "y")], should_pause=lambda: True)
    assert told(report) == [
        ("a", "paused", 0, 0, "it was not begun"),
        ("b", "paused", 0, 0, "it was not begun"),
    ]
    assert base.documents() == []


def test_pausing_with_a_batch_that_is_not_full(open_base: Open) -> None:
    asked: list[int] = []

    def second() -> bool:
        asked.append(1)
        return len(asked) > 1

    report = open_base(Hashed()).add([note("a", "x"), note("b", "y")], should_pause=second)
    rest = "0 of 1 chunks are stored; adding it again goes on from there"
    assert told(report) == [("a", "paused", 0, 1, rest), ("b", "paused", 0, 0, "it was not begun")]


def test_an_interrupt_leaves_what_was_stored(open_base: Open) -> None:
    class Interrupted(Hashed):
        def embed(self, texts: Any, kind: str) -> Any:
            if len(self.asked) == 2:
                raise KeyboardInterrupt
            return super().embed(texts, kind)

    base = open_base(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        base.add(note("a", words(60)), batch=2)
    assert [(one.state, one.stored) for one in base.documents()] == [("paused", 4)]
    again = Hashed()
    assert told(open_base(again).add(note("a", words(60)), batch=2)) == [("a", "added", 6, 6, "")]
    assert [len(texts) for texts, _ in again.asked] == [2]


def test_what_nobody_goes_on_with_has_failed(open_base: Open) -> None:
    time = Ticks()
    base = open_base(Hashed(), now=time)
    base.add(note("a", words(60)), batch=2, should_pause=lambda: False)
    base.delete("a")
    stuck = SqliteStore(Path(base.place))
    from priompt_py.context.knowledge.store import NewDocument

    stuck.begin(NewDocument(id="a", name="a", digest="x", chunks=6), now=0.0)
    stuck.close()
    time.time = 300.0
    assert [(one.state, one.detail) for one in base.documents()] == [("indexing", "")]
    time.time = 300.5
    detail = "nothing was added for 5 minutes; 0 of 6 chunks are stored; adding it again goes on from there"
    assert [(one.state, one.detail) for one in base.documents()] == [("failed", detail)]
    (info,) = base.find_documents(["a"])
    assert info
    assert info.state == "failed"


def test_too_long_a_document_has_failed(open_base: Open) -> None:
    embedder = Hashed()
    base = open_base(embedder, clock=Ticks(60.0))
    report = base.add([note("a", words(600)), note("b", "short")], batch=10)
    (first, second) = report.documents
    rest = "chunks are stored; adding it again goes on from there"
    assert (first.status, first.detail) == (
        "failed",
        f"it took longer than 300 s; {first.stored} of 60 {rest}",
    )
    assert 0 < first.stored < 60
    assert second.status == "added"
    assert report.failed == (first,)
    while first.status == "failed":
        before = first.stored
        (first,) = base.add(note("a", words(600)), batch=10).documents
        assert first.stored > before
    assert first.status == "added"
    assert [len(texts) for texts, _ in embedder.asked].count(10) == 6
    assert told(open_base(embedder, name="b.db", clock=Ticks(60)).add(note("a", words(600)), time_limit=None))


def test_deleted_and_replaced_meanwhile(open_base: Open) -> None:
    base = open_base(Hashed())
    other = open_base(Hashed())

    def meddle(progress: AddProgress) -> None:
        if progress.name == "a.txt" and progress.part == 0.5:
            other.delete("a")
        if progress.name == "b.txt" and progress.part == 0.5:
            other.add(note("b", "other content"))

    report = base.add([note("a", words(40)), note("b", words(40))], batch=2, on_progress=meddle)
    assert told(report) == [("a", "gone", 0, 4, ""), ("b", "gone", 0, 4, "")]
    assert [one.id for one in base.documents()] == ["b"]
    assert base.read("b") == "other content"


def test_another_process_is_faster(open_base: Open) -> None:
    mine, theirs = Hashed(), Hashed()
    base, other = open_base(mine), open_base(theirs)

    def overtake(progress: AddProgress) -> None:
        if progress.part == 0.25:
            other.add(note("a", words(80)), batch=3)

    assert told(base.add(note("a", words(80)), batch=2, on_progress=overtake)) == [("a", "added", 8, 8, "")]
    assert [len(texts) for texts, _ in mine.asked] == [2, 2]
    assert base.totals().chunks == 8


# ------------------------------------------------------------------------------------------ failures


def test_an_embedder_is_asked_once_for_a_batch(open_base: Open) -> None:
    embedder = Failing(RuntimeError("no money"), after=1, times=1)
    base = open_base(embedder)
    report = base.add([note("a", words(60)), note("b", "short")], batch=4)
    rest = "chunks are stored; adding it again goes on from there"
    detail = f"the embedder failed: RuntimeError: no money; 4 of 6 {rest}"
    assert told(report) == [
        ("a", "failed", 4, 6, detail),
        ("b", "failed", 0, 1, f"the embedder failed: RuntimeError: no money; 0 of 1 {rest}"),
    ]
    assert [len(texts) for texts, _ in embedder.asked] == [4, 3]
    assert next((one.state, one.detail) for one in base.documents()) == ("failed", detail)
    assert {one.status for one in base.add([note("a", words(60)), note("b", "short")]).documents} == {"added"}


def test_three_failures_in_a_row_are_enough(open_base: Open) -> None:
    embedder = Failing(RuntimeError("down"))
    base = open_base(embedder)
    report = base.add([note(f"n{n}", "one two") for n in range(6)], batch=1)
    assert [one.detail.partition(";")[0] for one in report.documents] == [
        *["the embedder failed: RuntimeError: down"] * 3,
        *["it was not begun, since the embedder failed 3 times in a row"] * 3,
    ]
    assert len(embedder.asked) == 3
    assert len(base.documents()) == 3
    other = Failing(RuntimeError("down"), times=2)
    report = open_base(other).add([note(f"n{n}", "one two") for n in range(6)], batch=1)
    assert [one.status for one in report.documents] == ["failed", "failed", *["added"] * 4]


@pytest.mark.parametrize(
    ("how", "words_"),
    [
        (too_few, "it gave 1 vectors for 2 texts"),
        (too_short, "its vectors have 15 numbers, not 16"),
        (not_numbers, "the vector of text 0 (from 0) holds NaN"),
        (nothing, "not a list of vectors"),
        ("slow", "the embedder took longer than 0.05 s"),
    ],
)
def test_answers_that_are_none(open_base: Open, how: Any, words_: str) -> None:
    base = open_base(Failing(how, times=1))
    (one,) = base.add(note("a", words(20)), time_limit=0.05).documents
    assert one.status == "failed"
    assert words_ in one.detail
    assert base.totals().chunks == 0
    assert [one.status for one in base.add(note("a", words(20))).documents] == ["added"]


def test_raising_in_place_of_reporting(open_base: Open) -> None:
    base = open_base(Failing(RuntimeError("down"), times=1))
    with pytest.raises(RuntimeError, match="down"):
        base.add(note("a", "x"), on_error="raise")
    assert [one.state for one in base.documents()] == ["failed"]
    with pytest.raises(DocumentError, match="it holds no text"):
        base.add(note("b", "  "), on_error="raise")
    with pytest.raises(FileNotFoundError):
        base.add("nowhere.txt", on_error="raise")
    with pytest.raises(EmbedderError):
        open_base(Failing(nothing), name="b.db").add(note("a", "x"), on_error="raise")


# ------------------------------------------------------------------------------------------ reading


def test_files_that_can_not_be_read(open_base: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/empty.txt").write_text(" \n")
    (tmp_path / "docs/picture").write_bytes(b"\x89PNG\r\n\x1a\n....")
    (tmp_path / "docs/good.txt").write_text("good")
    (tmp_path / "docs/lost.pdf").write_bytes(b"%PDF-1.4 nothing more")
    base = open_base()
    report = base.add(["docs", "docs/picture", "no.txt"])
    by_id = {one.id: one for one in report.documents}
    assert [(id_, one.status) for id_, one in by_id.items()] == [
        ("docs/empty.txt", "failed"),
        ("docs/good.txt", "added"),
        ("docs/lost.pdf", "failed"),
        ("docs/picture", "skipped"),
        ("no.txt", "failed"),
    ]
    assert by_id["docs/empty.txt"].detail == "it holds no text"
    assert by_id["no.txt"].detail == "it can't be read: No such file or directory"
    (one,) = base.add("docs/picture").documents
    assert (one.status, one.detail) == (
        "failed",
        "it is a PNG picture, which can't be read as text; attach it as an image",
    )
    assert [info.id for info in base.documents()] == [
        "docs/empty.txt",
        "docs/good.txt",
        "docs/lost.pdf",
        "docs/picture",
    ]


def test_a_file_that_is_gone_stays_as_it_was(open_base: Open, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("first")
    base = open_base()
    base.add(path)
    path.write_text(" ")
    (one,) = base.add(path).documents
    assert one.status == "failed"
    (info,) = base.documents()
    assert (info.state, info.searchable) == ("failed", True)
    assert base.read(str(path)) == "first"
    path.write_text("first")
    assert [one.status for one in base.add(path).documents] == ["unchanged"]
    assert [info.state for info in base.documents()] == ["ready"]


class Parser:
    def parse(self, data: bytes, name: str) -> str:
        if data == b"bad":
            raise ValueError("not today")
        return f"{name} read"


def test_parsers_of_ones_own(open_base: Open, tmp_path: Path) -> None:
    (tmp_path / "a.odd").write_bytes(b"x")
    (tmp_path / "b.odd").write_bytes(b"bad")
    base = open_base()
    report = base.add([tmp_path / "a.odd", tmp_path / "b.odd"], parsers={".odd": Parser()})
    assert [(one.status, one.detail) for one in report.documents] == [
        ("added", ""),
        ("failed", "ValueError: not today"),
    ]
    assert base.read(str(tmp_path / "a.odd")) == f"{tmp_path / 'a.odd'} read"


# ------------------------------------------------------------------------------------------ progress, async, arguments


def test_progress(open_base: Open) -> None:
    told_: list[AddProgress] = []
    open_base().add([note("a", words(20)), note("b", "x")], batch=1, on_progress=told_.append)
    assert told_ == [
        AddProgress(0, 2, 0, "a.txt", 0.0),
        AddProgress(0, 2, 1, "a.txt", 0.5),
        AddProgress(1, 2, 2, "a.txt", 1.0),
        AddProgress(1, 2, 2, "b.txt", 0.0),
        AddProgress(2, 2, 3, "b.txt", 1.0),
    ]
    told_.clear()
    open_base().add((one for one in [note("c", "x")]), on_progress=told_.append)
    assert [one.total for one in told_] == [None, None]


@pytest.mark.anyio
async def test_async(open_base: Open, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(words(60))
    embedder = Later()
    base = open_base(embedder)
    threads: set[int] = set()
    report = await base.aadd(
        [tmp_path / "a.txt", note("b", "x")],
        batch=4,
        on_progress=lambda _: threads.add(threading.get_ident()),
    )
    assert [one.status for one in report.documents] == ["added", "added"]
    assert threads == {threading.get_ident()}
    assert [len(texts) for texts, _ in embedder.asked] == [4, 3]


def test_what_is_async_needs_the_async_door(open_base: Open) -> None:
    base = open_base(Later())
    with pytest.raises(ArgumentTypeError, match=r"add\(\) is sync and the embedder is async; use aadd\(\)"):
        base.add(note("a", "x"))

    class Slow:
        async def parse(self, data: bytes, name: str) -> str:
            return ""

    class Loader:
        def read(self, _: Attachment) -> bytes:
            return b"x"

    with pytest.raises(ArgumentTypeError, match=r"the parser of a is async; use aadd\(\)"):
        open_base(name="b.db").add(Attachment("a", "a", loader=Loader()), parsers=Slow())


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"batch": 0}, ArgumentValueError, "add() needs batch >= 1, got batch=0"),
        ({"on_error": "stop"}, ArgumentValueError, "add() needs on_error to be one of report, raise"),
        ({"on_progress": 1}, ArgumentTypeError, "add() needs a function for on_progress, got"),
        ({"should_pause": 1}, ArgumentTypeError, "add() needs a function for should_pause, got"),
        ({"parsers": 1}, ArgumentTypeError, "add() needs objects with a method parse for parsers"),
    ],
)
def test_wrong_arguments(open_base: Open, options: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        open_base().add(note("a", "x"), **options)
    assert str(caught.value).startswith(sentence)


def test_vectors_need_their_embedder(open_base: Open) -> None:
    open_base(Hashed()).add(note("a", "x"))
    with pytest.raises(KnowledgeBaseError) as caught:
        open_base().add(note("b", "y"))
    assert (caught.value.reason, caught.value.detail) == (
        "settings",
        "its chunks have vectors by 'hashed'; open it with that embedder to add to it",
    )


def test_as_json(open_base: Open) -> None:
    report = open_base().add([note("a", "x"), note("a", "x")])
    assert report.to_json() == {
        "paused": False,
        "documents": [
            {"id": "a", "name": "a.txt", "status": "added", "chunks": 1, "stored": 1, "detail": ""},
            {
                "id": "a",
                "name": "a.txt",
                "status": "skipped",
                "chunks": 0,
                "stored": 0,
                "detail": "it was given twice",
            },
        ],
    }
    assert report.documents[0] == Added(id="a", name="a.txt", status="added", chunks=1, stored=1)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("no"), SystemExit(3)])
def test_what_is_broken_off_says_so(tmp_path: Path, error: BaseException) -> None:
    with KnowledgeBase.open(tmp_path / "base.db", tokenizer=WORDS, chunk_size=10, overlap=0) as base:

        def tell(progress: AddProgress) -> None:
            if progress.chunks == 4:
                raise error

        with pytest.raises(type(error)):
            base.add([note("a", words(60)), note("b", "never begun")], on_progress=tell, batch=2)
        (info,) = base.documents()
        assert (info.state, info.stored, info.detail) == (
            "paused",
            4,
            "4 of 6 chunks are stored; adding it again goes on from there",
        )
        assert [one.status for one in base.add([note("a", words(60))]).documents] == ["added"]


def test_what_can_not_be_said_any_more_goes_up_all_the_same(tmp_path: Path) -> None:
    base = KnowledgeBase.open(tmp_path / "base.db", tokenizer=WORDS, chunk_size=10, overlap=0)

    def tell(progress: AddProgress) -> None:
        if progress.chunks == 4:
            base.close()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        base.add(note("a", words(60)), on_progress=tell, batch=2)
