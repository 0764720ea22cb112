from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from tiktoken import registry

from priompt_py.errors import TokenizerError
from priompt_py.tokens import bpe
from priompt_py.tokens.bpe import ENCODINGS, BpeTokenizer
from priompt_py.tokens.encodings import WHITE
from priompt_py.tokens.tokenizer import get_tokenizer, kind_of
from tests.tokens.texts import ENCODINGS as PACKAGED
from tests.tokens.texts import hard_texts, pickled, random_texts


@pytest.fixture(scope="module")
def public() -> dict[str, dict[str, Any]]:
    """What tiktoken says about its encodings, without the ranks (which it would fetch)."""
    plugin: Any = importlib.import_module("tiktoken_ext.openai_public")

    def no_ranks(*_: object, **__: object) -> dict[bytes, int]:
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugin, "load_tiktoken_bpe", no_ranks)
        patch.setattr(plugin, "data_gym_to_mergeable_bpe_ranks", no_ranks)
        return {name: make() for name, make in plugin.ENCODING_CONSTRUCTORS.items()}


def test_all_of_tiktokens_encodings_are_packaged(public: dict[str, dict[str, Any]]) -> None:
    assert set(public) == set(ENCODINGS)


@pytest.mark.parametrize("name", ENCODINGS)
def test_patterns_and_special_tokens_are_tiktokens(public: dict[str, dict[str, Any]], name: str) -> None:
    assert ENCODINGS[name].pattern == public[name]["pat_str"]
    ours, theirs = ENCODINGS[name].special_tokens, public[name]["special_tokens"]
    assert theirs.items() <= ours.items()
    assert set(ours) - set(theirs) in (set(), {"<|im_start|>", "<|im_sep|>", "<|im_end|>"})


def test_harmony_has_1091_special_tokens() -> None:
    assert len(ENCODINGS["o200k_harmony"].special_tokens) == 1_091


# The ids are from tiktoken's README, tests and docstrings.
@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("o200k_base", "hello world", [24912, 2375]),
        ("o200k_harmony", "hello world", [24912, 2375]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("p50k_base", "hello world", [31373, 995]),
        ("r50k_base", "hello world", [31373, 995]),
        ("gpt2", "hello world", [31373, 995]),
        ("cl100k_base", "rer", [38149]),
        ("cl100k_base", "'rer", [2351, 81]),
        ("cl100k_base", "today\n ", [31213, 198, 220]),
        ("cl100k_base", "today\n \n", [31213, 27907]),
        ("cl100k_base", "today\n  \n", [31213, 14211]),
        ("gpt2", "", []),
    ],
)
def test_known_ids(name: str, text: str, ids: list[int]) -> None:
    tokenizer = BpeTokenizer(name)
    assert tokenizer.encode(text) == ids
    assert tokenizer.count(text) == len(ids)
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("name", PACKAGED)
@given(text=hard_texts)
@settings(max_examples=60, deadline=None)
def test_ids_come_back_as_the_text_that_is_sent(name: str, text: str) -> None:
    tokenizer = BpeTokenizer(name)
    sent = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert tokenizer.decode(tokenizer.encode(text)) == sent
    assert tokenizer.count(text) == len(tokenizer.encode(sent))


@pytest.mark.parametrize("name", ENCODINGS)
def test_special_tokens_are_never_made_from_text(name: str) -> None:
    tokenizer = BpeTokenizer(name)
    specials = ENCODINGS[name].special_tokens
    for mark in [*specials][:12]:
        ids = tokenizer.encode(f"a{mark}b")
        assert not set(ids) & set(specials.values())
        assert tokenizer.decode(ids) == f"a{mark}b"


def test_halves_of_one_character_count_as_that_character() -> None:
    tokenizer = BpeTokenizer("o200k_base")
    assert tokenizer.encode("x\ud83d\udc4dy") == tokenizer.encode("x👍y")
    assert tokenizer.encode("x\ud83dy") == tokenizer.encode("x\ufffdy")


def test_ids_of_chat_marks_can_be_decoded_and_unknown_ids_are_named() -> None:
    tokenizer = BpeTokenizer("o200k_base")
    assert tokenizer.decode([200_006, 200_008, 200_007]) == "<|im_start|><|im_sep|><|im_end|>"
    with pytest.raises(TokenizerError, match="o200k_base has no token with the id 999999"):
        tokenizer.decode([1, 999_999])
    with pytest.raises(TokenizerError, match="o200k_base has no token with the id -1"):
        tokenizer.decode([-1])


def test_nothing_is_loaded_before_the_first_count() -> None:
    script = (
        "import sys\n"
        "import priompt_py.tokens.tokenizer as tokens\n"
        "tokenizer = tokens.get_tokenizer('gpt-4o')\n"
        "assert 'tiktoken' not in sys.modules and 'requests' not in sys.modules\n"
        "tokenizer.count('a')\n"
        "assert 'tiktoken' in sys.modules and 'requests' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_tiktokens_registry_is_left_alone() -> None:
    BpeTokenizer("cl100k_base").count("a")
    assert "cl100k_base" not in registry.ENCODINGS


def test_many_threads_load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = tiktoken.Encoding

    def make(name: str, **arguments: Any) -> tiktoken.Encoding:
        made.append(name)
        return real(name, **arguments)

    monkeypatch.setattr(tiktoken, "Encoding", make)
    monkeypatch.setattr(bpe, "_loaded", {})
    tokenizer = BpeTokenizer("r50k_base")
    with ThreadPoolExecutor(16) as pool:
        counts = list(pool.map(tokenizer.count, [f"text {number % 7} of many" for number in range(400)]))
    assert made == ["r50k_base"]
    assert set(counts) == {4}


def test_pickles_by_name() -> None:
    tokenizer = get_tokenizer("o200k_base")
    data = pickle.dumps(tokenizer)
    assert len(data) < 100
    assert repr(pickled(tokenizer)) == repr(tokenizer) == "BpeTokenizer('o200k_base')"
    assert pickled(tokenizer).count("hello world") == 2


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_survives_fork_even_while_another_thread_holds_the_lock() -> None:
    script = (
        "import os, threading, warnings\n"
        "warnings.simplefilter('ignore')\n"  # Python 3.12 warns of forks with threads, which is what is tried here
        "from priompt_py.tokens import bpe\n"
        "from priompt_py.tokens.tokenizer import get_tokenizer\n"
        "held = threading.Event()\n"
        "def hold():\n"
        "    with bpe._load_lock:\n"
        "        held.set()\n"
        "        threading.Event().wait(20)\n"
        "threading.Thread(target=hold, daemon=True).start()\n"
        "held.wait()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(get_tokenizer('r50k_base').count('hello world'))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=30
    )
    assert done.stdout == "2\n"


# ------------------------------------------------------------------------------------------- long white


@pytest.mark.parametrize("name", PACKAGED)
def test_white_means_what_it_means_to_tiktoken(name: str) -> None:
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    one_byte = {bytes([byte]): byte for byte in range(256)}
    matches = tiktoken.Encoding("white", pat_str=r"\s", mergeable_ranks=one_byte, special_tokens={})
    assert bytes(matches.encode_ordinary(everything)).decode() == "".join(sorted(WHITE))


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("name", PACKAGED)
def test_taking_white_out_of_tiktokens_hands_changes_no_id(
    name: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpe, "WHITE_LIMIT", limit)
    tokenizer = BpeTokenizer(name)
    encoding = tokenizer.load()
    for text in random_texts(6_000, 9, seed=limit):
        assert tokenizer.encode(text) == encoding.encode_ordinary(text), repr(text)
        assert tokenizer.count(text) == len(encoding.encode_ordinary(text)), repr(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "end"), [*((name, "x") for name in PACKAGED), ("o200k_base", ""), ("cl100k_base", "\nx")]
)
def test_runs_of_white_that_make_tiktoken_panic_are_counted(name: str, end: str) -> None:
    tokenizer = BpeTokenizer(name)
    text = f"a{' ' * 1_000_000}{end}"
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.count(text) == len(ids)


def test_a_panic_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = BpeTokenizer.of_encoding(
        tiktoken.Encoding(
            "own", pat_str=r"\s+(?!\S)|\S", mergeable_ranks={b" ": 0, b"x": 1}, special_tokens={}
        )
    )
    assert tokenizer.count("x" * 999_999) == 999_999
    with pytest.raises(TokenizerError, match="tiktoken gave up on a text of 1,000,001 characters"):
        tokenizer.count(" " * 1_000_000 + "x")

    def stop(text: str) -> list[int]:
        raise KeyboardInterrupt

    tokenizer._encode = stop
    with pytest.raises(KeyboardInterrupt):
        tokenizer.count("x" * 999_999)


# ------------------------------------------------------------------------------------------- others


def test_an_encoding_of_tiktokens_can_be_passed() -> None:
    encoding = BpeTokenizer("r50k_base").load()
    tokenizer = get_tokenizer(encoding)
    assert isinstance(tokenizer, BpeTokenizer)
    assert (tokenizer.name, tokenizer.count("hello world")) == ("r50k_base", 2)
    assert tokenizer.safe_cuts is ENCODINGS["r50k_base"].safe_cuts
    assert (tokenizer.max_token_bytes, tokenizer.chat_format, kind_of(tokenizer)) == (128, None, "exact")
    assert not tokenizer.is_packaged


def test_an_encoding_of_ones_own_has_no_safe_cuts_and_pickles_as_tiktoken_does() -> None:
    own = tiktoken.Encoding("own", pat_str=r".", mergeable_ranks={b"a": 0, b"b": 1}, special_tokens={})
    tokenizer = get_tokenizer(own)
    assert isinstance(tokenizer, BpeTokenizer)
    assert (tokenizer.safe_cuts, tokenizer.chat_format, tokenizer.max_token_bytes) == (None, None, 1)
    assert pickled(tokenizer).encode("ab") == [0, 1]


def test_a_plugins_encoding_is_used_once_loaded_and_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    own = tiktoken.Encoding("plugged", pat_str=r".", mergeable_ranks={b"a": 0}, special_tokens={})

    def never() -> Any:
        raise AssertionError("loaded")

    registry.list_encoding_names()
    assert registry.ENCODING_CONSTRUCTORS is not None
    monkeypatch.setitem(registry.ENCODING_CONSTRUCTORS, "plugged", never)
    with pytest.raises(TokenizerError, match=r"call tiktoken\.get_encoding\('plugged'\) first"):
        get_tokenizer("plugged")
    monkeypatch.setitem(registry.ENCODINGS, "plugged", own)
    assert get_tokenizer("plugged").count("aaa") == 3


def test_no_packaged_encoding_of_that_name() -> None:
    with pytest.raises(
        TokenizerError, match="no packaged encoding is named 'x'; there are cl100k_base, gpt2,"
    ):
        BpeTokenizer("x")
