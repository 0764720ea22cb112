"""What texts are found by."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import words as words_module
from priompt_py.context.analysis import analyse, term_counts
from priompt_py.errors import PromptError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("What is the refund policy?", ["what", "is", "the", "refund", "polici"]),
        ("Don’t x 5", ["don't", "x", "5"]),
        ("оферта, оферты, оферте, офертой", ["оферт"] * 4),
        ("не в Счёт", ["не", "в", "счет"]),
        ("state-of-the-art", ["state-of-the-art"]),
        ("合同的期限", ["合同", "同的", "的期", "期限"]),
        ("税", ["税"]),
        ("GPT模型v2, ok", ["gpt", "模型", "v2", "ok"]),
        ("한국어 カタカナ", ["한국", "국어", "カタ", "タカ", "カナ"]),
        ("ＡＢ ﬁles", ["ab", "file"]),
        ("👍 — …", []),
    ],
)
def test_analysis(text: str, found: list[str]) -> None:
    assert analyse(text) == found


def test_counts() -> None:
    counts = term_counts("Delivery of deliveries: 5")
    assert counts == {"deliveri": 2, "of": 1, "5": 1}
    assert counts.total() == 4


@given(st.text())
def test_terms_can_stand_between_blanks_and_quotes(text: str) -> None:
    assert not any(set(term) & set(' \t\n"“”«»') or not term for term in analyse(text))


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    words_module.stem.cache_clear()
    words_module._stemmers.cache_clear()
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(PromptError, match=r"pip install 'priompt-py\[context\]'"):
        analyse("word")
