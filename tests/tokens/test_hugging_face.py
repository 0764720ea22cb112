from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from priompt_py.errors import TokenizerError
from priompt_py.tokens.chat_format import PLAIN_FORMAT
from priompt_py.tokens.hugging_face import HuggingFaceTokenizer
from priompt_py.tokens.safe_cuts import ANYWHERE
from priompt_py.tokens.tokenizer import chat_format_of, get_tokenizer, kind_of, safe_cuts_of
from tests.tokens.texts import pickled

tokenizers: Any = pytest.importorskip("tokenizers")


def made() -> Any:
    """A byte-level tokenizer that adds a beginning of text, pads and cuts off, as many files do."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    model = tokenizers.models.BPE(vocab=vocabulary | {"ab": 256}, merges=[("a", "b")])
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 257), ("</s>", 258)]
    )
    tokenizer.enable_padding(length=50)
    tokenizer.enable_truncation(max_length=4)
    return tokenizer


def test_no_token_is_added_and_none_cut_off() -> None:
    tokenizer = HuggingFaceTokenizer(made(), name="mine")
    assert tokenizer.count("") == 0
    assert tokenizer.count("ab" * 10) == 10
    assert tokenizer.encode("abab") == [256, 256]
    assert tokenizer.decode([257, 256, 258]) == "<s>ab</s>"


def test_what_looks_like_a_special_token_is_text() -> None:
    tokenizer = HuggingFaceTokenizer(made())
    assert not set(tokenizer.encode("a<s>b</s>")) & {257, 258}
    assert tokenizer.decode(tokenizer.encode("a<s>b</s>")) == "a<s>b</s>"


def test_the_object_that_was_passed_stays_as_it_is() -> None:
    mine = made()
    HuggingFaceTokenizer(mine).count("abab")
    assert mine.padding is not None
    assert mine.truncation is not None
    assert mine.encode("ab").ids[:3] == [257, 256, 258]


def test_lone_surrogates_count_as_the_replacement_character() -> None:
    tokenizer = HuggingFaceTokenizer(made())
    assert tokenizer.encode("a\ud83d") == tokenizer.encode("a\ufffd")
    assert tokenizer.encode("\ud83d\udc4d") == tokenizer.encode("👍")


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "llama" / "tokenizer.json"
    path.parent.mkdir()
    made().save(str(path))
    tokenizer = HuggingFaceTokenizer(path)
    assert (tokenizer.name, tokenizer.count("abab")) == ("llama", 2)
    assert HuggingFaceTokenizer(str(path), name="own").name == "own"
    assert repr(tokenizer) == "HuggingFaceTokenizer('llama')"


def test_it_is_a_tokenizer() -> None:
    tokenizer = HuggingFaceTokenizer(made())
    assert get_tokenizer(tokenizer) is tokenizer
    assert tokenizer.name == "hugging_face"
    assert kind_of(tokenizer) == "exact"
    assert safe_cuts_of(tokenizer) is None
    told = HuggingFaceTokenizer(made(), safe_cuts=ANYWHERE, chat_format=PLAIN_FORMAT)
    assert (safe_cuts_of(told), chat_format_of(told)) == (ANYWHERE, PLAIN_FORMAT)


def test_pickles() -> None:
    tokenizer = HuggingFaceTokenizer(made(), name="mine", chat_format=PLAIN_FORMAT)
    again = pickled(tokenizer)
    assert (again.name, again.count("abab"), again.chat_format) == ("mine", 2, PLAIN_FORMAT)


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        TokenizerError,
        match=r"no tokenizer file at '.*nowhere\.json' \(a tokenizer\.json; nothing is fetched\)",
    ):
        HuggingFaceTokenizer(tmp_path / "nowhere.json")
    with pytest.raises(
        TokenizerError,
        match=r"HuggingFaceTokenizer\(\) needs a path or a tokenizers.Tokenizer, got 3 \(int\)",
    ):
        HuggingFaceTokenizer(3)
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    with pytest.raises(TokenizerError, match=r"broken\.json is no tokenizer file: "):
        HuggingFaceTokenizer(broken)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(
        TokenizerError, match=r"need the package 'tokenizers': pip install 'priompt-py\[huggingface\]'"
    ):
        HuggingFaceTokenizer(broken)
