from __future__ import annotations

import pytest
from hypothesis import given, settings

from priompt_py.errors import TokenizerError
from priompt_py.tokens.estimate import FAMILIES, EstimateTokenizer, Weights, estimate_tokenizer
from priompt_py.tokens.tokenizer import get_tokenizer, kind_of, max_token_bytes_of, safe_cuts_of
from tests.tokens.texts import hard_texts, pickled, random_texts

O200K = get_tokenizer("o200k_base")
ENGLISH = (
    "Answer the question from the document below; if it does not say, tell the user that you do not know. "
)
CODE = "def add(first: int, second: int) -> int:\n    return first + second  # both\n"
CHINESE = "请根据以下文档回答用户的问题，如果文档里没有答案，就说不知道。"
RUSSIAN = "Ответьте на вопрос пользователя на основании следующего документа. "
HINDI = "निम्नलिखित दस्तावेज़ के आधार पर प्रश्न का उत्तर दें। "
DIGITS = "123456 987654 555 "


@pytest.mark.parametrize("family", FAMILIES)
@given(text=hard_texts)
@settings(max_examples=100, deadline=None)
def test_estimates_add_up_at_safe_cuts_and_are_never_below_o200k(family: str, text: str) -> None:
    tokenizer = estimate_tokenizer(family)
    cuts = safe_cuts_of(tokenizer)
    assert cuts is not None
    assert tokenizer.count(text) == sum(map(tokenizer.count, cuts.chunks(text, 1)))
    assert tokenizer.count(text) >= O200K.count(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_they_add_up_in_many_more_texts(family: str) -> None:
    tokenizer = estimate_tokenizer(family)
    cuts = safe_cuts_of(tokenizer)
    assert cuts is not None
    for text in random_texts(2_000, 14, seed=3):
        assert tokenizer.count(text) == sum(map(tokenizer.count, cuts.chunks(text, 1))), repr(text)


# `known`: what the published vocabularies of Claude 2 and of Gemma count.
@pytest.mark.parametrize(
    ("text", "known", "o200k", "claude", "claude_4", "gemini"),
    [
        (ENGLISH, (116, 116), 116, 211, 141, 116),
        (CODE, (115, 120), 110, 170, 130, 120),
        (CHINESE, (145, 90), 90, 168, 168, 116),
        (RUSSIAN, (151, 66), 56, 161, 156, 76),
        (HINDI, (290, 68), 87, 382, 382, 102),
        (DIGITS, (30, 90), 40, 50, 40, 90),
    ],
)
def test_figures(
    text: str, known: tuple[int, int], o200k: int, claude: int, claude_4: int, gemini: int
) -> None:
    families = ("o200k", "claude", "claude_4", "gemini")
    counts = [estimate_tokenizer(family).count(text * 5) for family in families]
    assert counts == [o200k, claude, claude_4, gemini]
    assert claude >= claude_4 >= known[0]
    assert gemini >= known[1]


def test_long_white_costs_more_for_gemini() -> None:
    text = f"a{' ' * 100}b"
    counts = [estimate_tokenizer(family).count(text) for family in ("o200k", "claude", "gemini")]
    assert counts == [4, 4, 10]


def test_all_scripts_have_a_weight() -> None:
    tokenizer = EstimateTokenizer(
        "own",
        Weights(
            start=1, letter=100, digit=200, sign=300, latin=400, cyrillic=500, near=600, brahmic=700, east=800,
            symbol=900, astral=1000,
        ),
    )  # fmt: skip
    for text, addition in zip("a0!éжλक中→👍", range(1, 11), strict=True):
        assert tokenizer.count(text) - O200K.count(text) == addition, text
    for code in (
        *range(128, 0x3000),
        0xD800,
        0xDFFF,
        0xE000,
        0xF8FF,
        0xF900,
        0xFB00,
        0xFF00,
        0xFFFF,
        0x10000,
        0x10FFFF,
    ):
        assert tokenizer._addition(chr(code)) >= 4, hex(code)


def test_long_words_count_as_short_ones_do() -> None:
    tokenizer = estimate_tokenizer("claude")
    assert tokenizer.count("字" * 200) - O200K.count("字" * 200) == (50 + 200 * 50) // 100


def test_they_say_what_they_are() -> None:
    tokenizer = get_tokenizer("claude_estimate")
    assert (tokenizer.name, kind_of(tokenizer), max_token_bytes_of(tokenizer)) == (
        "claude_estimate",
        "estimate",
        128,
    )
    assert repr(tokenizer) == "EstimateTokenizer('claude_estimate')"
    again = pickled(tokenizer)
    assert again.count(ENGLISH) == tokenizer.count(ENGLISH)


def test_they_have_no_ids() -> None:
    tokenizer = estimate_tokenizer("claude")
    with pytest.raises(TokenizerError, match="claude_estimate is an estimate: there are no token ids"):
        tokenizer.encode("a")
    with pytest.raises(TokenizerError, match="claude_estimate is an estimate: there are no token ids"):
        tokenizer.decode([1])


def test_unknown_families_are_named() -> None:
    with pytest.raises(
        TokenizerError, match="no estimate for 'x'; there are claude, claude_4, gemini, o200k"
    ):
        estimate_tokenizer("x")


@pytest.mark.parametrize("family", FAMILIES)
def test_they_add_up_beside_long_runs_of_white_and_punctuation(family: str) -> None:
    tokenizer = estimate_tokenizer(family)
    cuts = safe_cuts_of(tokenizer)
    assert cuts is not None
    for text in (
        "x" + " " * 33 + "y",
        "a\n" + " " * 40 + "b",
        "  " * 20 + "c\n\n" + "\t" * 17 + "d",
        "<|im_end|>a.b",
    ):
        assert tokenizer.count(text) == sum(map(tokenizer.count, cuts.chunks(text, 1)))
    assert list(cuts.iter("a.b" + " " * 33 + "c\n  d\ne")) == [3, 37, 41, 42]
