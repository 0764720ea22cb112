"""Long files of a chat: which are searched, by what, and what a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from priompt_py.context import Attachment, Found, Hit, Message, SearchReport, SessionFiles, session_mode
from priompt_py.errors import ArgumentTypeError
from priompt_py.testing import WordTokenizer

WORDS = WordTokenizer()


def sentences(number: int, about: str = "thing") -> str:
    """Paragraphs of ten words each."""
    return "\n\n".join(f"{about}{n} is one two three four five six seven." for n in range(number))


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("a " * 7_500, "auto"),
        ("a " * 7_501, "retrieval"),
        ("a" * (32 << 10), "auto"),
        ("a" * ((32 << 10) + 1), "retrieval"),
        ("ж" * (16 << 10), "auto"),
        ("ж" * (16 << 10) + "!", "retrieval"),
        ("", "auto"),
    ],
)
def test_which_files_are_searched(text: str, mode: str) -> None:
    assert session_mode(text, tokenizer=WORDS) == mode


def test_a_very_long_one_is_not_counted() -> None:
    class Refusing(WordTokenizer):
        def count(self, text: str, /) -> int:
            raise AssertionError("it was counted")

    assert session_mode("a" * 40_000, tokenizer=Refusing()) == "retrieval"


def files(*attachments: Attachment, **options: Any) -> SessionFiles:
    return SessionFiles(attachments, **{"tokenizer": WORDS, **options})


def test_what_was_found_and_around_it() -> None:
    tools = files(Attachment("log", "log.txt", text=sentences(500)))
    answer = tools.query_session_attachment("thing7 or thing303")
    assert answer == (
        "2 passages found, the best first. read_session_attachment_parents gives them in full.\n\n"
        + "\n\n".join(
            f"[log#{parent}] {' '.join(sentences(500).split())[begin : begin + 300]}…"
            for parent, begin in _begins(answer)
        )
    )
    assert sorted(parent for parent, _ in _begins(answer)) == [0, 1]
    parent = tools.read_session_attachment_parents(["log#1"])
    assert "thing303 is" in parent
    assert parent.startswith("[log#1]\nthing160")


def _begins(answer: str) -> list[tuple[int, int]]:
    """The passages of an answer: the parent's number, and where the text begins in the file, its blanks made one."""
    whole = " ".join(sentences(500).split())
    found: list[tuple[int, int]] = []
    for line in answer.split("\n\n")[1:]:
        name, _, passage = line.partition("] ")
        found.append((int(name.rpartition("#")[2]), whole.index(passage.removesuffix("…"))))
    return found


def test_children_lie_in_their_parents_and_parents_are_told_once() -> None:
    asked: list[tuple[str, list[tuple[str, int]], int]] = []

    class Retriever:
        default_threshold = 0.5

        def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
            asked.append((query, [(one.id, WORDS.count(one.text or "")) for one in documents], limit))
            return [
                Hit("best", 0.9, "a#1", 3),
                Hit("again", 0.8, "a#1", 0),
                Hit("other", 0.7, "a#0", 1),
                Hit("too far", 0.5, "b#0", 1),
            ]

    tools = files(
        Attachment("a", "a.txt", text=sentences(400)),
        Attachment("b", "b.txt", text="x"),
        retriever=Retriever(),
    )
    assert tools.query_session_attachment("q") == (
        "2 passages found, the best first. read_session_attachment_parents gives them in full.\n\n"
        "[a#1] best\n\n[a#0] other"
    )
    query, documents, limit = asked[0]
    assert (query, limit) == ("q", 20)
    assert [id_ for id_, _ in documents] == ["a#0", "a#1", "b#0"]
    assert documents[0][1] <= 1_600
    assert 1_600 < documents[1][1] <= 2_400  # its end would have been short by itself
    tools.query_session_attachment("q", key="b")
    assert [id_ for id_, _ in asked[1][1]] == ["b#0"]


@pytest.mark.parametrize(("limit", "number"), [(8, 8), (1, 1), (99, 12), (0, 1), ("3", 3)])
def test_eight_are_given_and_twelve_at_most(limit: Any, number: int) -> None:
    tools = files(*[Attachment(f"f{n}", f"f{n}.txt", text=f"common word{n}") for n in range(15)])
    assert tools.query_session_attachment("common").count("\n\n[") == 8
    assert tools.query_session_attachment("common", limit=limit).count("[") == number


def test_reading_in_the_order_asked_for() -> None:
    tools = files(Attachment("a", "a.txt", text=sentences(600)), Attachment("bad", "bad.txt", text=" "))
    answer = tools.read_session_attachment_parents(["a#2", "[a#0]", "a#9", "b#0", "a", "a#x", "bad#0"])
    parts = answer.split("\n\n[")
    assert answer.startswith("[a#2]\n")
    assert parts[1].startswith("a#0]\nthing0 is")
    assert answer.endswith(
        "\n\nThe file 'a' has no passage 9; its passages are 0 to 3."
        "\n\nThere is no file 'b'. The keys are: a, bad."
        "\n\n'a' names no passage; the form is KEY#NUMBER, numbers from 0."
        "\n\n'a#x' names no passage; the form is KEY#NUMBER, numbers from 0."
        "\n\nThe file 'bad.txt' could not be read: it holds no text."
    )
    assert tools.read_session_attachment_parents(["a#0"] * 13).endswith(
        "\n\n(1 more passages were asked for; ask again.)"
    )
    assert tools.read_session_attachment_parents("a#0").startswith("[a#0]")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nothing: Any
    for nothing in ((), 7):
        assert tools.read_session_attachment_parents(nothing) == (
            "parents is a list of KEY#NUMBER, as query_session_attachment names them."
        )


def test_what_is_asked_wrongly() -> None:
    tools = files(Attachment("a", "a.txt", text="one two"), Attachment("i", "i.png", kind="image"))
    assert tools.query_session_attachment("zebra") == "The search found nothing."
    for blank in (" ", 7):
        assert tools.query_session_attachment(blank) == (  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            "There is nothing to look for: query is a question, or words."
        )
    assert tools.query_session_attachment("one", key="i") == "There is no file 'i'. The keys are: a."
    assert tools.query_session_attachment("one", limit="x") == "limit is a whole number."  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert files().query_session_attachment("one") == "The search found nothing."
    assert files().query_session_attachment("one", key="k") == (
        "There is no file 'k'. The keys are: none, as no file is attached."
    )


def test_failures_are_told() -> None:
    class Failing:
        def search(self, *_: Any) -> Any:
            raise OSError("down")

    class Degraded:
        def search(self, *_: Any) -> Found:
            return Found([Hit("text", 0.0, "a#0")], SearchReport(embedding="failed", notes=("no vectors",)))

    given = Attachment("a", "a.txt", text="one"), Attachment("b", "b.txt", text=" ")
    unread = "(The file 'b.txt' could not be read: it holds no text.)"
    assert files(*given).query_session_attachment("one") == (
        "1 passage found, the best first. read_session_attachment_parents gives them in full.\n\n"
        f"[a#0] one\n\n{unread}"
    )
    assert files(*given, retriever=Failing()).query_session_attachment("one") == (
        f"The search failed: OSError: down.\n{unread}"
    )
    assert (
        files(*given, retriever=Degraded())
        .query_session_attachment("one")
        .endswith(f"[a#0] text\n\n{unread}\n\n(No vectors.)")
    )
    with pytest.raises(ArgumentTypeError) as caught:
        files(retriever=7)
    assert str(caught.value) == (
        "SessionFiles() needs an object with a method search for retriever, got 7 (int)"
    )


def test_the_definitions() -> None:
    tools = SessionFiles([Message("m", "user", "see", attachments=[Attachment("a", "a.txt", text="x")])])
    found = {one.name: list(one.parameters["properties"]) for one in tools.tools()}
    assert found == {
        "query_session_attachment": ["query", "key", "limit"],
        "read_session_attachment_parents": ["parents"],
    }
    assert [one.name for one in tools.async_tools()] == list(found)


@pytest.mark.anyio
async def test_async() -> None:
    class Loader:
        async def read(self, _: Attachment) -> bytes:
            return b"refunds take thirty days"

    tools = files(Attachment("a", "a.txt", loader=Loader()))
    assert (await tools.aquery_session_attachment("refund")).endswith("[a#0] refunds take thirty days")
    assert await tools.aread_session_attachment_parents(["a#0"]) == "[a#0]\nrefunds take thirty days"
    with pytest.raises(ArgumentTypeError, match=r"use aquery_session_attachment\(\)"):
        files(Attachment("a", "a.txt", loader=Loader())).query_session_attachment("refund")
