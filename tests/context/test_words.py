"""Words, stems, questions and phrases."""

from __future__ import annotations

import sys

import pytest

from priompt_py.context import words as words_module
from priompt_py.context.matching import Phrases, analysed, content_of, query_of
from priompt_py.context.messages import Attachment, Message, ToolCallPart, ToolResultPart
from priompt_py.context.word_lists import fold, word_list
from priompt_py.context.words import bigrams, cjk_runs, has_cjk, loose, stem, stems, words
from priompt_py.errors import PromptError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("Hello, World!", ["hello", "world"]),
        ("state-of-the-art - x", ["state-of-the-art", "x"]),
        ("don't don’t rock'n'roll", ["don't", "don’t", "rock'n'roll"]),
        ("a_b c1 2.5", ["a", "b", "c1", "2", "5"]),
        ("Счёт-фактура №5", ["счет-фактура", "no5"]),
        ("ﬁle Ⅳ ＡＢ", ["file", "iv", "ab"]),
        ("GPT模型v2 你好", ["gpt", "v2"]),
        ("--x-- 'y'", ["x", "y"]),
        ("👍 — …", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_stems() -> None:
    assert {stem(word) for word in ("оферта", "оферты", "оферте", "офертой")} == {"оферт"}
    assert stems("Deliveries delivered delivery") == ["deliveri", "deliv", "deliveri"]
    assert stem("don’t") == stem("don't")
    assert stem("2024") == "2024"
    assert stem("λόγος") == "λόγος"
    assert stem("x" * 65) == "x" * 65
    assert stem("ы" * 65) == "ы" * 65


def test_cjk() -> None:
    assert cjk_runs("合同的期限, ok カタカナ 한국어 abc") == ["合同的期限", "カタカナ", "한국어"]
    assert cjk_runs("plain") == []
    assert list(bigrams("合同的")) == ["合同", "同的"]
    assert list(bigrams("税")) == ["税"]
    assert (has_cjk("a"), has_cjk("я"), has_cjk("税")) == (False, False, True)
    assert not has_cjk("「」、。！？（）")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("OK, fine!", "ok fine", True),
        ("  A \n b ", "a b", True),
        ("«Да»…", "да", True),
        ("Ёлка", "елка", True),
        ("C++", "C#", False),
        ("good 👍", "good 👎", False),
        ("x > 5", "x < 5", False),
        ("5 %", "5", False),
        ("５", "5", True),
        ("十 €", "十 $", False),
        ("a\\b", "a b", False),
    ],
)
def test_loose_text(left: str, right: str, *, same: bool) -> None:
    assert (loose(left) == loose(right)) is same


def test_word_lists_are_folded() -> None:
    assert fold("Ё \u2167") == "е viii"
    assert {"about", "что", "еще"} <= word_list("stop_words")
    assert "ещё" not in word_list("stop_words")
    assert set("的了吗呢是我你他这那什么") == set("".join(word_list("cjk_stop")))


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(PromptError, match="pip install 'priompt-py\\[context\\]'"):
        words_module._Stemmers()


# ------------------------------------------------------------------------------------------ questions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What about delivery dates?", {"deliveri", "date"}),
        ("Какой срок ответа?", {"срок", "ответ"}),
        ("is it up to AI, x1 or go", {"ai", "x1"}),
        ("ТЗ и тз", {"тз"}),
        ("", set[str]()),
        ("the of and", set[str]()),
    ],
)
def test_terms_of_a_question(text: str, found: set[str]) -> None:
    assert query_of(text).stems == found


@pytest.mark.parametrize(
    ("question", "text", "matches"),
    [
        ("合同的期限是多久", "这份合同很长", False),  # one of three bigrams
        ("合同的期限是多久", "合同期限为一年", True),
        ("合同呢", "这份合同很长", True),  # there is only one
        ("的了吗", "的了吗", False),
        ("税", "税", False),
        ("合同期限 и срок", "сроки прошли", True),
        ("delivery", "The deliveries", True),
        ("delivery", "deliverance", False),
        ("нет таких", "合同", False),
    ],
)
def test_what_a_question_matches(question: str, text: str, *, matches: bool) -> None:
    assert query_of(question).matches(analysed(text)) is matches


# ------------------------------------------------------------------------------------------ phrases


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("оферта", "Условия ОФЕРТЫ изменены", True),
        ("акт", "Контракт подписан", False),
        ("Гражданский кодекс", "по гражданскому кодексу", True),
        ("Гражданский кодекс", "кодекс гражданский", False),
        ("合同", "这份合同很长", True),
        ("GPT模型", "新的gpt模型", True),
        ("GPT模型", "模型", False),
        ("§", "нет", False),
        ("§", "§ 5", True),
        ("C++", "c", True),
        ("5", "50", False),
    ],
)
def test_phrases(term: str, text: str, *, found: bool) -> None:
    phrases = Phrases.of_texts([term])
    assert phrases.any_in(analysed(text), text) is found


def test_many_phrases_in_one_walk() -> None:
    phrases = Phrases(["a b", "a", "合同", "合"])
    assert sorted(phrases.find(analysed("a b 合同"))) == ["a", "a b", "合", "合同"]
    assert bool(phrases)
    assert not Phrases()


def test_what_a_message_speaks_of() -> None:
    call = Message(
        "a", "assistant", [ToolCallPart("c", "look", '{"city": "\\u041c", "deep": [{"x": "y"}, 5]}')]
    )
    assert content_of(call) == ""
    assert content_of(call, calls=True) == "М\ny"
    assert (
        content_of(Message("a", "assistant", [ToolCallPart("c", "look", "not json")]), calls=True)
        == "not json"
    )
    assert content_of(Message("a", "tool", [ToolResultPart("c", "found")])) == "found"
    file = Message("a", "user", "x", attachments=[Attachment("f", "договор.pdf", text="…")])
    assert content_of(file, calls=True) == "x\nдоговор.pdf"
