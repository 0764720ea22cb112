"""`priompt kb`: what it prints, where, and with which exit code."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from priompt_py.cli import kb as module
from priompt_py.context import AddProgress, Attachment, KnowledgeBase
from priompt_py.errors import EmbedderError
from tests.cli.conftest import Priompt


@pytest.fixture
def docs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PRIOMPT_KB", "PRIOMPT_EMBEDDER", "PRIOMPT_EMBEDDER_KEY"):
        monkeypatch.delenv(name, raising=False)
    (folder / "docs/sub").mkdir(parents=True)
    (folder / "docs/refunds.md").write_text("Refunds take thirty days.\n\n  Not on Sundays.\n")
    (folder / "docs/sub/доставка.txt").write_text("Доставка занимает пять дней.", "utf-8")
    (folder / "docs/logo.png").write_bytes(b"\x89PNG\r\n\x1a\n....")
    return folder


def test_adding(docs: Path, priompt: Priompt) -> None:
    assert priompt("kb", "add", "docs") == (
        0,
        "1 skipped, 2 added; knowledge.db now has 2 documents, 2 chunks\n",
        "",
    )
    assert priompt("kb", "add", ".") == (
        0,
        "1 skipped, 2 unchanged; knowledge.db now has 2 documents, 2 chunks\n",
        "",
    )
    (docs / "docs/refunds.md").write_text("Refunds take sixty days.")
    (docs / "docs/empty.txt").write_text("")
    assert priompt("kb", "add", "docs", "no.txt") == (
        1,
        "2 failed, 1 skipped, 1 updated, 1 unchanged; knowledge.db now has 3 documents, 2 chunks\n",
        "docs/empty.txt: it holds no text\nno.txt: it can't be read: No such file or directory\n",
    )


def test_adding_as_json(docs: Path, priompt: Priompt) -> None:
    done = priompt("kb", "add", "docs", "--json", "--base", "b.db", "--chunk-size", "4", "--overlap", "1")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["base"], found["paused"], found["chunks"]) == ("b.db", False, 7)
    assert [(one["id"], one["status"], one["stored"]) for one in found["documents"]] == [
        ("docs/logo.png", "skipped", 0),
        ("docs/refunds.md", "added", 3),
        ("docs/sub/доставка.txt", "added", 4),
    ]


def test_nothing_in_a_folder(docs: Path, priompt: Priompt) -> None:
    (docs / "none").mkdir()
    assert priompt("kb", "add", "none") == (
        0,
        "nothing to add; knowledge.db now has 0 documents, 0 chunks\n",
        "",
    )


def test_searching(docs: Path, priompt: Priompt) -> None:
    priompt("kb", "add", "docs")
    assert priompt("kb", "search", "refund") == (
        0,
        "docs/refunds.md#0  0.356\n    Refunds take thirty days.\n\n      Not on Sundays.\n",
        "",
    )
    assert priompt("kb", "search", "доставкой", "--limit", "1").out == (
        "docs/sub/доставка.txt#0  0.456\n    Доставка занимает пять дней.\n"
    )
    assert priompt("kb", "search", "zebra") == (0, "", "priompt kb search: nothing was found\n")
    assert priompt("kb", "search", " ").err == (
        "priompt kb search: the query is empty: nothing was searched\n"
    )
    found = json.loads(priompt("kb", "search", "refund", "--json").out)
    (hit,) = found["hits"]
    assert hit.pop("affinity") == pytest.approx(0.356, abs=1e-3)
    assert found == {
        "hits": [
            {
                "document": "docs/refunds.md",
                "chunk": 0,
                "name": "docs/refunds.md",
                "rank_score": None,
                "rerank": None,
                "text": "Refunds take thirty days.\n\n  Not on Sundays.",
            }
        ],
        "report": {"embedding": "unavailable", "rerank": "unavailable", "notes": []},
    }


def test_vectors_without_a_network(docs: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    assert priompt("kb", "add", "docs", "--embedder", "wordllama").code == 0
    found = json.loads(priompt("kb", "search", "money back", "--json").out)
    assert [hit["document"] for hit in found["hits"]] == ["docs/refunds.md", "docs/sub/доставка.txt"]
    assert found["report"]["embedding"] == "done"
    (docs / "more.txt").write_text("More.")
    assert priompt("kb", "add", "more.txt").code == 0

    def refuse(*_: Any) -> Any:
        raise EmbedderError("wordllama-l2-supercat-256", "library", "it isn't installed")

    monkeypatch.setattr("priompt_py.context.embedders.offline.WordLlamaEmbedder.embed", refuse)
    done = priompt("kb", "search", "refund")
    assert (done.code, done.out[:15]) == (0, "docs/refunds.md")
    assert done.err == (
        "priompt kb search: the embedder failed, so that the search was by words alone: "
        "EmbedderError: wordllama-l2-supercat-256: it isn't installed\n"
    )
    monkeypatch.setenv("PRIOMPT_EMBEDDER", "wordllama")
    assert priompt("kb", "add", "docs", "--base", "new.db").code == 1


def test_vectors_of_a_server_need_it_again(docs: Path, priompt: Priompt) -> None:
    class Server:
        name = "served"
        dim = 2

        def embed(self, texts: Any, kind: str) -> Any:
            return [[1.0, 0.0] for _ in texts]

    with KnowledgeBase.open("knowledge.db", Server()) as base:
        base.add("docs/refunds.md")
    done = priompt("kb", "search", "refund")
    assert (done.code, done.out[:15]) == (0, "docs/refunds.md")
    assert done.err == (
        "priompt kb search: the search was by words alone; with --embedder (served) it is by sense, too\n"
    )
    assert priompt("kb", "add", "docs") == (
        2,
        "",
        "knowledge.db: its chunks have vectors by 'served'; open it with that embedder to add to it\n",
    )


def test_a_server_that_is_not_there(docs: Path, priompt: Priompt) -> None:
    done = priompt("kb", "add", "docs", "--embedder", "m@http://127.0.0.1:9/v1")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "priompt: --embedder: m: http://127.0.0.1:9/v1/embeddings: it can't be reached"
    )
    assert priompt("kb", "add", "docs", "--embedder", "m@https:///x").err.startswith("priompt: --embedder: ")


def test_listing(docs: Path, priompt: Priompt) -> None:
    (docs / "docs/empty.txt").write_text("")
    priompt("kb", "add", "docs", "--chunk-size", "3", "--overlap", "0")
    assert priompt("kb", "list") == (
        0,
        (
            "chunks  characters  document\n"
            "     0           0  docs/empty.txt  (failed: it holds no text)\n"
            "     7          44  docs/refunds.md\n"
            "     4          28  docs/sub/доставка.txt\n"
        ),
        "",
    )
    found = json.loads(priompt("kb", "list", "--json").out)
    assert found["base"] == "knowledge.db"
    assert found["documents"][0] == {
        "id": "docs/empty.txt",
        "name": "docs/empty.txt",
        "state": "failed",
        "searchable": False,
        "chunks": 0,
        "stored": 0,
        "characters": 0,
        "detail": "it holds no text",
    }
    KnowledgeBase.open("none.db").close()
    assert priompt("kb", "list", "--base", "none.db") == (
        0,
        "",
        "none.db: no documents yet; priompt kb add FILE adds some\n",
    )


def test_showing(docs: Path, priompt: Priompt) -> None:
    (docs / "docs/empty.txt").write_text("")
    priompt("kb", "add", "docs", "--chunk-size", "4", "--overlap", "1")
    assert priompt("kb", "show", "docs/sub/доставка.txt").out == "Доставка занимает пять дней.\n"
    assert priompt("kb", "show", "docs/refunds.md#1").out == "thirty days.\n"
    assert json.loads(priompt("kb", "show", "docs/refunds.md#1", "--json").out) == {
        "document": "docs/refunds.md",
        "chunk": 1,
        "start": 13,
        "text": "thirty days.",
    }
    found = json.loads(priompt("kb", "show", "docs/refunds.md", "--json").out)
    assert (found["state"], found["text"].split("\n")[0]) == ("ready", "Refunds take thirty days.")
    assert priompt("kb", "show", "docs/refunds.m") == (
        2,
        "",
        "docs/refunds.m: no such document; did you mean docs/refunds.md?\n",
    )
    for asked in ("docs/refunds.md#9", "docs/refunds.md#x"):
        assert priompt("kb", "show", asked) == (
            2,
            "",
            f"{asked}: no such chunk; the document has 3 chunks, #0 to #2\n",
        )
    assert priompt("kb", "show", "other#0").err == "other#0: no such document\n"
    assert priompt("kb", "show", "docs/empty.txt") == (
        2,
        "",
        "docs/empty.txt: failed: it holds no text\n",
    )


def test_deleting(docs: Path, priompt: Priompt) -> None:
    priompt("kb", "add", "docs")
    assert priompt("kb", "delete", "docs/refunds.md", "other", "other") == (
        1,
        "1 deleted from knowledge.db\n",
        "other: no such document\n",
    )
    done = priompt("kb", "delete", "docs/sub/доставка.txt", "--json")
    assert (done.code, json.loads(done.out)) == (0, {"deleted": 1, "missing": []})
    assert priompt("kb", "search", "refund").err == "priompt kb search: nothing was found\n"


def test_where_the_base_is(docs: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIOMPT_KB", "mine.db")
    assert priompt("kb", "add", "docs").out.endswith("mine.db now has 2 documents, 2 chunks\n")
    assert (docs / "mine.db").exists()
    assert priompt("kb", "search", "refund", "--base", "other.db") == (
        2,
        "",
        "other.db: there is no such knowledge base; `priompt kb add FILE` makes one\n",
    )
    assert not (docs / "other.db").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["kb"], "priompt kb: missing command (priompt kb --help tells more)"),
        (
            ["kb", "serch"],
            "priompt kb: no command 'serch'; did you mean search?; it is one of add, delete, list, search, show",
        ),
        (
            ["kb", "--base", "b.db", "list"],
            "priompt kb: --base stands behind the command: priompt kb add --base …",
        ),
        (
            ["kb", "--limit", "1"],
            "priompt kb: --limit stands behind the command: priompt kb search --limit …",
        ),
        (["kb", "--odd"], "priompt kb: no option --odd (priompt kb --help tells more)"),
        (["kb", "add"], "priompt kb add: needs FILE... (priompt kb add --help tells more)"),
        (["kb", "search"], "priompt kb search: needs QUERY (priompt kb search --help tells more)"),
        (["kb", "search", "q", "--limit", "0"], "priompt: --limit needs at least 1 passage"),
        (
            ["kb", "search", "q", "--limit", "x"],
            "priompt: --limit needs a whole number of passages, 0 or more, got 'x'",
        ),
        (
            ["kb", "add", "docs", "--chunk-size", "9", "--overlap", "9"],
            "priompt: --overlap: needs overlap < chunk_size, got overlap=9 and chunk_size=9",
        ),
        (
            ["kb", "add", "docs", "--embedder", "odd"],
            "priompt: --embedder needs wordllama, or MODEL@URL (http://… or https://…), got 'odd'",
        ),
        (["kb", "add", ""], "priompt: needs the path of a file or folder, got ''"),
        (["kb", "list", "--base", "docs"], "docs: it can't be opened: it is a folder"),
        (
            ["kb", "list", "--base", "docs/logo.png"],
            "docs/logo.png: it is no knowledge base, or damaged (file is not a database)",
        ),
    ],
)
def test_wrong_usage(docs: Path, priompt: Priompt, arguments: list[str], line: str) -> None:
    assert priompt(*arguments) == (2, "", f"{line}\n")


def test_other_settings(docs: Path, priompt: Priompt) -> None:
    priompt("kb", "add", "docs")
    assert priompt("kb", "add", "docs", "--chunk-size", "9") == (
        2,
        "",
        "knowledge.db: it was made with chunk_size=512, not 9\n",
    )


def test_what_deleted_it_meanwhile_is_told(
    docs: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    from priompt_py.context.knowledge import sqlite_store

    def gone(*_: Any) -> None:
        return None

    monkeypatch.setattr(sqlite_store, "_write", gone)
    done = priompt("kb", "add", "docs/refunds.md")
    assert (done.code, done.err) == (0, "docs/refunds.md: it was deleted, or replaced, meanwhile\n")


def test_the_bar_is_told_parts() -> None:
    told: list[tuple[int, int]] = []

    def bar(done: int, total: int) -> None:
        told.append((done, total))

    tell = module._teller(bar)
    tell(AddProgress(0, 4, 0, "a", 0.0))
    tell(AddProgress(1, 4, 9, "b", 0.25))
    tell(AddProgress(2, 4, 9, "b", 1.0))
    tell(AddProgress(2, None, 9, "b", 0.5))
    assert told == [(0, 4_000), (1_250, 4_000), (2_000, 4_000), (2_500, 1_000)]


def test_the_bar_is_drawn_on_a_terminal(
    docs: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    import contextlib
    from collections.abc import Generator

    told: list[tuple[int, int]] = []

    @contextlib.contextmanager
    def bar(what: str) -> Generator[Any]:
        assert what == "adding"

        def tell(done: int, total: int) -> None:
            told.append((done, total))

        yield tell

    monkeypatch.setattr(module, "progress_bar", bar)
    assert priompt("kb", "add", "docs").code == 0
    assert told[0] == (0, 3_000)
    assert told[-1] == (3_000, 3_000)


def test_names_that_could_be_lines_of_ours(docs: Path, priompt: Priompt) -> None:
    with KnowledgeBase.open("knowledge.db") as base:
        base.add(Attachment("a\n9  9  b\x1b[31m", "a.txt", text="refunds"))
    name = "a\\n9  9  b\\u001b[31m"
    assert priompt("kb", "list").out == f"chunks  characters  document\n     1           7  {name}\n"
    assert priompt("kb", "search", "refund").out == f"{name}#0  0.400\n    refunds\n"
    assert priompt("kb", "show", "a\n9  9  b\x1b[31m#0").out == "refunds\n"
    assert priompt("kb", "show", "a\n9  9  b\x1b").err == (
        f"a\\n9  9  b\\u001b: no such document; did you mean {name}?\n"
    )
    assert priompt("kb", "delete", "x\ny").err == "x\\ny: no such document\n"


def test_no_file_is_left_of_what_can_not_be(docs: Path, priompt: Priompt) -> None:
    for options in (
        ["--tokenizer", "zzz"],
        ["--chunk-size", "0"],
        ["--chunk-size", "9", "--overlap", "9"],
        ["--embedder", "m@http://127.0.0.1:1/v1"],
    ):
        assert priompt("kb", "add", "docs", *options).code == 2, options
        assert not (docs / "knowledge.db").exists(), options
    (docs / "knowledge.db").touch()
    assert priompt("kb", "search", "refund").err == (
        "knowledge.db: there is no such knowledge base; `priompt kb add FILE` makes one\n"
    )
    assert (docs / "knowledge.db").stat().st_size == 0


def test_a_link_that_leads_out_of_its_folder(docs: Path, priompt: Priompt) -> None:
    (docs / "secret.txt").write_text("secret")
    (docs / "docs/out.txt").symlink_to(docs / "secret.txt")
    assert priompt("kb", "add", "docs") == (
        1,
        "1 skipped, 1 failed, 2 added; knowledge.db now has 3 documents, 2 chunks\n",
        "docs/out.txt: 'out.txt' lies outside of the folder of attachments\n",
    )


def test_an_embedder_of_the_environment_is_not_asked_where_nothing_is_compared(
    docs: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base without vectors can be looked at and tidied up, whatever embedder other bases have."""
    monkeypatch.setenv("PRIOMPT_EMBEDDER", "model@http://127.0.0.1:9")
    assert priompt("kb", "add", "docs").code == 2
    assert not (docs / "knowledge.db").exists()
    monkeypatch.delenv("PRIOMPT_EMBEDDER")
    priompt("kb", "add", "docs/refunds.md")
    monkeypatch.setenv("PRIOMPT_EMBEDDER", "model@http://127.0.0.1:9")
    assert priompt("kb", "list").out.endswith("  docs/refunds.md\n")
    assert priompt("kb", "show", "docs/refunds.md").out.startswith("Refunds take thirty days.")
    assert priompt("kb", "delete", "docs/refunds.md") == (0, "1 deleted from knowledge.db\n", "")


def test_a_chunk_behind_the_last_one(docs: Path, priompt: Priompt) -> None:
    (docs / "long.txt").write_text("one two three\n\nfour five six\n\nseven eight nine", "utf-8")
    assert priompt("kb", "add", "long.txt").code == 0
    assert (
        priompt("kb", "show", "long.txt#1").err == "long.txt#1: no such chunk; the document has 1 chunk, #0\n"
    )


def test_an_interrupt(docs: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def bar(_: str) -> Any:
        def tell(done: int, _: int) -> None:
            if done:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr(module, "progress_bar", bar)
    assert priompt("kb", "add", "docs") == (
        130,
        "",
        "priompt kb add: what is stored stays; the same command goes on from there\npriompt: interrupted\n",
    )


def _stored(base: Path) -> int:
    """Chunks of a base that another process is filling; by SQLite alone, so that the addition isn't over meanwhile."""
    try:
        with contextlib.closing(sqlite3.connect(f"{base.as_uri()}?mode=ro", uri=True)) as db:
            (stored,) = db.execute("SELECT coalesce(sum(stored), 0) FROM versions").fetchone()
    except sqlite3.OperationalError:  # there is no file yet, or no table
        return 0
    return int(stored)


@pytest.mark.slow
def test_a_signal_in_the_middle_of_a_long_addition(folder: Path) -> None:
    """A process of its own gets a real one; the same command goes on behind what is stored."""
    text = "\n\n".join(f"Chapter {n}. " + f"word{n} " * 300 for n in range(1_200))
    (folder / "long.txt").write_text(text)
    command = [sys.executable, "-m", "priompt_py", "kb", "add", "long.txt", "--chunk-size", "99"]
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    signal.signal(signal.SIGINT, ignored)
    until = time.monotonic() + 60
    while _stored(folder / "knowledge.db") < 100 and time.monotonic() < until:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert err == (
        "priompt kb add: what is stored stays; the same command goes on from there\npriompt: interrupted\n"
    )
    with KnowledgeBase.open("knowledge.db") as base:
        (info,) = base.documents()
        assert info.state == "paused"
        assert 100 <= info.stored < info.chunks
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 added; knowledge.db now has 1 document, {info.chunks:,} chunks\n"
