from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

import priompt_py
from priompt_py.errors import TokenizerError
from priompt_py.tokens import tokenizer as room
from priompt_py.tokens.bpe import BpeTokenizer
from priompt_py.tokens.chat_format import OPENAI_CHAT, OPENAI_CHAT_CL100K, OPENAI_CHAT_O200K
from priompt_py.tokens.estimate import EstimateTokenizer
from priompt_py.tokens.tokenizer import (
    ANYWHERE,
    CallableTokenizer,
    Tokenizer,
    chat_format_of,
    get_tokenizer,
    kind_of,
    list_tokenizers,
    max_token_bytes_of,
    register_tokenizer,
    safe_cuts_of,
)


class Words:
    """The least that a tokenizer can be."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def encode(self, text: str) -> list[int]:
        return [len(word) for word in text.split()]

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join("x" * number for number in ids)


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_factories", {})
    monkeypatch.setattr(room, "_made", {})


def test_an_object_is_given_back_as_it_is() -> None:
    words = Words()
    assert get_tokenizer(words) is words
    assert isinstance(words, Tokenizer)


def test_what_a_tokenizer_does_not_say_has_a_default() -> None:
    words = Words()
    assert safe_cuts_of(words) is None
    assert max_token_bytes_of(words) is None
    assert chat_format_of(words) is OPENAI_CHAT
    assert OPENAI_CHAT.special_ids is None
    assert kind_of(words) == "exact"


def test_what_packaged_encodings_say() -> None:
    tokenizer = get_tokenizer("o200k_base")
    assert isinstance(tokenizer, BpeTokenizer)
    assert safe_cuts_of(tokenizer) is tokenizer.safe_cuts
    assert max_token_bytes_of(tokenizer) == 128
    assert chat_format_of(tokenizer) is OPENAI_CHAT_O200K
    assert chat_format_of(get_tokenizer("cl100k_base")) is OPENAI_CHAT_CL100K
    assert chat_format_of(get_tokenizer("r50k_base")) is OPENAI_CHAT
    assert kind_of(tokenizer) == "exact"


def test_a_kind_that_is_none_is_refused() -> None:
    words = Words()
    words.kind = "guess"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(
        TokenizerError, match="one of 'exact', 'estimate', 'upper_bound'; Words 'words' says 'guess'"
    ):
        kind_of(words)


def test_names_of_encodings_models_and_estimates() -> None:
    assert get_tokenizer("o200k_base") is get_tokenizer("o200k_base") is get_tokenizer("gpt-4o-2024-08-06")
    assert get_tokenizer("gpt-4") is get_tokenizer("cl100k_base")
    assert isinstance(get_tokenizer("claude-opus-4-7"), EstimateTokenizer)
    assert kind_of(get_tokenizer("gemini-2.5-pro")) == "estimate"


def test_functions_that_count() -> None:
    tokenizer = get_tokenizer(len)
    assert isinstance(tokenizer, CallableTokenizer)
    assert (tokenizer.name, tokenizer.count("abc"), tokenizer.safe_cuts) == ("len", 3, ANYWHERE)


def test_a_model_stands_in_for_none() -> None:
    assert get_tokenizer(None, model="gpt-4o") is get_tokenizer("o200k_base")
    assert get_tokenizer("cl100k_base", model="gpt-4o") is get_tokenizer("cl100k_base")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            None,
            "a tokenizer is needed: the name of an encoding ('o200k_base'), a model ('gpt-4o'), or an object",
        ),
        ("gpt-4oo", "no tokenizer and no model is named 'gpt-4oo' (near: gpt-4o, "),
        ("O200K", "no tokenizer and no model is named 'O200K' (near: o200k_base, "),
        ("zzzzzz", "no tokenizer and no model is named 'zzzzzz'"),
        ("", "no tokenizer and no model is named ''"),
        (3, "not a tokenizer: 3 (int); pass a name such as 'o200k_base' or 'gpt-4o', or an object"),
        (b"o200k_base", "not a tokenizer: bytes lacks name (str), encode()"),
        (Words, "Words is a class; pass an object of it: Words()"),
        (int, "not a tokenizer: the class int"),
        (
            type("Half", (), {"name": "half", "count": len})(),
            "not a tokenizer: Half 'half' lacks encode(), decode()",
        ),
    ],
)
def test_what_is_no_tokenizer_is_refused_by_name(wrong: object, message: str) -> None:
    with pytest.raises(TokenizerError) as caught:
        get_tokenizer(wrong)
    assert str(caught.value).startswith(message)


def test_registered_names() -> None:
    made: list[Words] = []

    def factory() -> Words:
        made.append(Words())
        return made[-1]

    register_tokenizer("words", factory)
    assert not made
    assert get_tokenizer("words") is get_tokenizer("words") is made[0]
    assert "words" in list_tokenizers()
    with pytest.raises(
        TokenizerError, match="the tokenizer name 'words' is taken; pass replace=True to take it over"
    ):
        register_tokenizer("words", factory)
    register_tokenizer("words", factory, replace=True)
    assert get_tokenizer("words") is made[1]


@pytest.mark.parametrize("taken", ["o200k_base", "claude_estimate", "gpt-4o", "gpt-4o-2024-08-06"])
def test_names_of_ours_are_taken(taken: str) -> None:
    with pytest.raises(TokenizerError, match=f"the tokenizer name '{taken}' is taken"):
        register_tokenizer(taken, Words)
    register_tokenizer(taken, Words, replace=True)
    assert isinstance(get_tokenizer(taken), Words)


def test_wrong_registrations() -> None:
    with pytest.raises(TokenizerError, match=r"register_tokenizer\(\) needs a name \(str\), got 3"):
        register_tokenizer(3, Words)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        TokenizerError, match=r"register_tokenizer\('x'\) needs a function without arguments, got 3"
    ):
        register_tokenizer("x", 3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    register_tokenizer("x", object)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TokenizerError, match="the factory of 'x': not a tokenizer: "):
        get_tokenizer("x")


def test_all_names() -> None:
    assert list_tokenizers() == (
        "cl100k_base",
        "claude_4_estimate",
        "claude_estimate",
        "gemini_estimate",
        "gpt2",
        "o200k_base",
        "o200k_estimate",
        "o200k_harmony",
        "p50k_base",
        "p50k_edit",
        "r50k_base",
    )


def test_importing_the_room_loads_nothing() -> None:
    script = (
        "import sys, types\n"
        "package = sys.modules['priompt_py'] = types.ModuleType('priompt_py')\n"  # whose face loads more
        f"package.__path__ = {priompt_py.__path__!r}\n"
        "import priompt_py.tokens\n"
        "ours = [name for name in sys.modules if name.startswith('priompt_py.') and name != 'priompt_py.tokens']\n"
        "assert not ours, ours\n"
        "assert 'attr' not in sys.modules and 'tiktoken' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
