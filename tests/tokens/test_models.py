from __future__ import annotations

import typing

import pytest
import tiktoken.model

from priompt_py.errors import TokenizerError
from priompt_py.tokens import image_cost, tool_cost
from priompt_py.tokens.chat_format import HARMONY_CHAT, OPENAI_CHAT, OPENAI_CHAT_CL100K, OPENAI_CHAT_O200K
from priompt_py.tokens.models import MODELS, find_model, info_for_encoding, model_info
from priompt_py.tokens.tokenizer import list_tokenizers


@pytest.mark.parametrize(("name", "encoding"), tiktoken.model.MODEL_TO_ENCODING.items())
def test_tiktokens_models_have_tiktokens_encoding(name: str, encoding: str) -> None:
    assert model_info(name).encoding == encoding


@pytest.mark.parametrize(("prefix", "encoding"), tiktoken.model.MODEL_PREFIX_TO_ENCODING.items())
def test_so_have_its_prefixes(prefix: str, encoding: str) -> None:
    assert model_info(f"{prefix.removesuffix('-')}-2099-01-01").encoding == encoding


def test_all_chat_models_that_openai_lists_are_known_where_tiktoken_knows_them() -> None:
    shared = pytest.importorskip("openai.types.shared.chat_model")
    missing: list[str] = []
    for name in typing.get_args(shared.ChatModel):
        try:
            expected = tiktoken.encoding_name_for_model(name)
        except KeyError:
            if not name.startswith(("gpt-audio", "codex-mini")) and not model_info(name).encoding.endswith(
                "_estimate"
            ):
                missing.append(name)
        else:
            assert model_info(name).encoding == expected
    assert missing == []


@pytest.mark.parametrize("key", MODELS)
def test_every_entry_names_what_exists(key: str) -> None:
    info = MODELS[key]
    assert info.key == key
    assert info.encoding in list_tokenizers()
    assert info.tools in tool_cost.FAMILIES
    assert info.images in image_cost.FAMILIES
    assert find_model(key) is (None if key.endswith(".") else info)
    assert info.max_answer is None or info.window is None or info.max_answer <= info.window


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4-turbo-preview", "gpt-4-turbo"),
        ("gpt-4-1106-preview", "gpt-4-1106"),
        ("chatgpt-4o-latest", "chatgpt-4o"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("gpt-5.2-pro-2025-12-11", "gpt-5.2"),
        ("gpt-5.3-codex", "gpt-5.3"),
        ("gpt-5.6-sol", "gpt-5.6"),
        ("gpt-5.9", "gpt-5."),
        ("gpt-6-sol", "gpt-6"),
        ("gpt-6.2-astra", "gpt-6."),
        ("o3-mini-2025-01-31", "o3"),
        ("gpt-oss-120b", "gpt-oss"),
        ("ft:gpt-4o-mini-2024-07-18:acme::id", "gpt-4o-mini"),
        ("openai/gpt-4.1-nano", "gpt-4.1-nano"),
        ("anthropic/claude-opus-4-7", "claude-opus-4-7"),
        ("claude-opus-4-6-20260101", "claude-opus-4"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("claude-sonnet-5-5", "claude"),
        ("models/gemini-2.5-flash", "gemini"),
    ],
)
def test_the_longest_key_wins(name: str, key: str) -> None:
    assert model_info(name).key == key


@pytest.mark.parametrize(
    "name", ["", "gpt-4.7", "gpt-4oo", "gpt-5.", "gpt", "o", "o1x", "xgpt-4o", "acme/gpt-4o", "-"]
)
def test_what_is_not_in_the_table_is_not_guessed(name: str) -> None:
    assert find_model(name) is None


def test_an_unknown_model_lists_near_names() -> None:
    with pytest.raises(TokenizerError) as caught:
        model_info("gpt4o-mini")
    assert str(caught.value) == (
        "the model 'gpt4o-mini' is not in the table (near: gpt-4o-mini, gpt-5.4-mini, gpt-4.1-mini, gpt-5-mini); "
        "for a model of your own pass a tokenizer and a limit"
    )
    with pytest.raises(TokenizerError, match=r"the model 'zzzzzz' is not in the table; for a model"):
        model_info("zzzzzz")
    with pytest.raises(TokenizerError, match=r"a model is named by a str, got 3 \(int\)"):
        model_info(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_chat_formats() -> None:
    formats = [
        model_info(name).chat_format for name in ("gpt-5", "gpt-4", "gpt-oss-20b", "gpt2", "claude-3-opus")
    ]
    assert formats == [OPENAI_CHAT_O200K, OPENAI_CHAT_CL100K, HARMONY_CHAT, OPENAI_CHAT, OPENAI_CHAT]


@pytest.mark.parametrize(
    ("encoding", "key"),
    [
        ("o200k_base", "gpt-4o"),
        ("o200k_harmony", "gpt-4o"),
        ("cl100k_base", "gpt-4"),
        ("r50k_base", "gpt-4"),
        ("claude_estimate", "claude"),
        ("claude_4_estimate", "claude-opus-4"),
        ("gemini_estimate", "gemini"),
        ("my own", "gpt-4o"),
    ],
)
def test_a_model_stands_for_an_encoding(encoding: str, key: str) -> None:
    assert info_for_encoding(encoding) is MODELS[key]
