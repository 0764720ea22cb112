"""The questions about licences: that they are in order, and that search answers them on the texts a machine has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import attrs
import pytest

from bench.retrieval import run
from bench.retrieval.corpus import Document, Question, common_licences, distinct, licences, notes, questions
from bench.retrieval.evaluate import SEARCHES, Outcome, evaluate, made
from bench.retrieval.report import page, within_one
from bench.retrieval.rerankers import BestSentence, DenseTerms
from bench.retrieval.speed import KINDS, Speed, Times, documents_of, measure, read_speeds, sqlite
from priompt_py.context import WordLlamaEmbedder


def test_the_questions() -> None:
    asked = questions()
    assert len(asked) >= 60
    assert len({one.ask for one in asked}) == len(asked)
    assert all(one.about and one.ask.strip() == one.ask for one in asked)
    kinds = Counter(one.kind for one in asked)
    assert set(kinds) == {"words", "sense", "ru", "ru-ru", "zh", "zh-en", "other"}
    assert kinds["ru-ru"] == len(notes())
    names = {note.id for note in notes()}
    assert {pattern for one in asked if one.kind == "ru-ru" for pattern in one.about} == names


def test_documents_that_answer() -> None:
    question = Question("?", "sense", ("GPL-2.0*", "MIT"))
    assert question.answered_by(Document(("x", "GPL-2.0-only"), ""))
    assert not question.answered_by(Document(("LGPL-2.0", "MIT-0"), ""))


def test_equal_texts_are_one_document() -> None:
    assert distinct([("a", "Same  text"), ("b", "other"), ("c", "same\ntext ")]) == [
        Document(("a", "c"), "Same  text"),
        Document(("b",), "other"),
    ]


def test_where_texts_come_from(tmp_path: Path) -> None:
    (tmp_path / "MIT.json").write_text(json.dumps({"licenseText": "Permission"}), "utf-8")
    assert licences(tmp_path) == [Document(("MIT",), "Permission")]
    (tmp_path / "GPL-3").write_text("Programs", "utf-8")
    (tmp_path / "GPL").symlink_to("GPL-3")
    (tmp_path / "MIT.json").unlink()
    assert common_licences(tmp_path) == [Document(("GPL-3.0",), "Programs")]
    assert common_licences(tmp_path / "none") == []


@pytest.mark.slow
def test_questions_about_the_texts_of_this_machine(tmp_path: Path) -> None:
    """The common licences that Debian has (other systems: none), and the Russian notes: 15 questions, or 8."""
    documents = [*common_licences(), *notes()]
    asked = questions(documents)
    embedder = WordLlamaEmbedder()
    made(tmp_path / "base.db", documents, embedder)
    outcomes = evaluate(tmp_path / "base.db", documents, asked, embedder, {"dense terms": DenseTerms()})
    assert [(one.search, one.reranker) for one in outcomes] == [
        (search, reranker) for search in SEARCHES for reranker in ("none", "dense terms")
    ]
    for outcome in outcomes:
        assert outcome.within(5) >= len(asked) - 3
        inflected = [
            place for question, place in zip(asked, outcome.places, strict=True) if question.kind == "ru-ru"
        ]
        assert len(inflected) == 8
        assert all(place is not None and place <= 5 for place in inflected)
    assert within_one(outcomes) == {"none": True, "dense terms": True}


# ------------------------------------------------------------------------------------------ second looks


def test_dense_terms() -> None:
    texts = [
        "nothing of it",
        "the brown cow " + "and " * 100 + "a fox",
        "the quick brown fox",
        "fox",
    ]
    found = DenseTerms().rerank("brown foxes", texts, 3)
    assert [index for index, _ in found] == [2, 1, 3]
    assert found[0][1] == pytest.approx(1)
    assert DenseTerms().rerank("", ["a", "b"], 5) == [(0, 0.0), (1, 0.0)]


def test_best_sentence() -> None:
    texts = ["", "The weather is fine. Refunds take ten days.", "The weather is fine."]
    found = BestSentence(WordLlamaEmbedder()).rerank("how long do refunds take", texts, 3)
    assert [index for index, _ in found] == [1, 2, 0]
    assert found[2][1] == -1.0


# ------------------------------------------------------------------------------------------ figures

ASKED = [Question("a", "sense", ("x",)), Question("b", "zh", ("x",)), Question("c", "zh", ("x",))]


def outcomes(hybrid: tuple[int | None, ...]) -> list[Outcome]:
    return [
        Outcome("words", "none", (1, 5, None)),
        Outcome("vectors", "none", (2, None, None)),
        Outcome("hybrid", "none", hybrid),
    ]


def test_the_page() -> None:
    documents = [Document(("x", "y"), ""), Document(("z",), "")]
    speed = Speed(
        "SQLite",
        3,
        90,
        144.6,
        9.5,
        4.5,
        dict.fromkeys(KINDS, Times(12.4, 30.6, 7.5)),
        42,
        100,
        200.4,
        250,
        12.3,
    )
    text = page(documents, 1_234, ASKED, outcomes((1, 6, 20)), [speed], "small")
    assert "3 questions, written by hand" in text
    assert "base of 2 texts" in text
    assert "equal, 1 of them" in text
    assert "1,234 chunks" in text
    assert "| words | none | 2 (67%) | 1 | 2 |\n" in text
    assert "| hybrid | none | 1 (33%) | 1 | 3 |\n" in text
    assert "nowhere more than one question behind" in text
    assert "| English, in other words | 1 | 1 | 1 | 1 |\n" in text
    assert "| Chinese about a Chinese text | 2 | 1 | 0 | 0 |\n" in text
    assert "| chunks a second | 9 |\n" in text
    assert "The goal, 100 ms for a search, in the median, is kept." in text
    slow = attrs.evolve(speed, searches=dict.fromkeys(KINDS, Times(100.5, 102, 1)))
    assert "is missed by words in SQLite and by vectors in SQLite and by both in SQLite." in page(
        documents, 1, ASKED, outcomes((1, 6, 20)), [slow], "small"
    )
    assert "| words | 8 | 12 | 31 |\n" in text
    assert "## A large base" not in page(documents, 1, ASKED, outcomes((1, 6, 20)), [], "small")


def test_a_search_that_is_behind() -> None:
    assert within_one(outcomes((None, 6, 20))) == {"none": False}
    text = page([Document(("x",), "")], 1, ASKED, outcomes((None, None, None)), [], "small")
    assert "behind the better of the two that it is made of with `none` as second look" in text


def test_what_was_measured_can_be_read() -> None:
    for speed in read_speeds():
        assert set(speed.searches) == set(KINDS)
    assert read_speeds(Path("nowhere.json")) == []


@pytest.mark.slow
def test_measuring(tmp_path: Path) -> None:
    texts = [Document(("x",), "The quick brown fox jumps over the lazy dog. Refunds take ten working days;")]
    first, again = (list(documents_of(texts, [0, 1])) for _ in range(2))
    assert first == again
    assert first[0].text != first[1].text
    with sqlite(tmp_path) as place:
        speed = measure(place, texts, ["quick refunds"], WordLlamaEmbedder(), documents=2)
    assert (speed.store, speed.documents) == ("SQLite", 2)
    assert speed.chunks > 2
    assert set(speed.searches) == set(KINDS)
    assert speed.together >= 0


def test_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(run, "LICENCES", tmp_path / "none")
    assert run.main([]) == 1
    assert "bash bench/retrieval/setup.sh" in capsys.readouterr().out
    monkeypatch.setattr(run, "LICENCES", tmp_path)
    monkeypatch.setattr(
        run, "licences", lambda: [Document(("JSON",), "It shall be used for good, not evil.")]
    )
    monkeypatch.setattr(run, "PAGE", tmp_path / "page.md")
    assert run.main(["--missed"]) == 0
    assert not (tmp_path / "page.md").exists()
    assert run.main([]) == 0
    assert "# Retrieval: figures" in (tmp_path / "page.md").read_text("utf-8")
    assert "hybrid          none" in capsys.readouterr().out
