from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from priompt_py.errors import ArgumentValueError
from priompt_py.model.prompt import ChatMessage, TextPart
from priompt_py.tokens.bpe import BpeTokenizer
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.tokenizer import from_count


def test_what_is_put_is_found_again() -> None:
    cache, tokenizer = TokenCache(), from_count(len)
    assert cache.get(tokenizer, "abc") is None
    cache.put(tokenizer, "abc", 3)
    assert cache.get(tokenizer, "abc") == 3
    assert len(cache) == 1
    assert repr(cache) == "<TokenCache of 1 texts, 3 characters>"


def test_a_view_is_a_dict_and_counts() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    cache, tokenizer = TokenCache(), from_count(count)
    view = cache.for_tokenizer(tokenizer)
    assert isinstance(view, dict)
    assert view is cache.for_tokenizer(tokenizer)
    assert view.tokenizer is tokenizer
    counter = cache.counter(tokenizer)
    assert [counter(text) for text in ("ab", "ab", "c", "ab")] == [2, 2, 1, 2]
    assert seen == ["ab", "c"]
    assert view == {"ab": 2, "c": 1}
    view.put("ab", 99)  # known already
    assert view.get("ab") == 2


def test_packaged_encodings_share_by_name_and_others_by_object() -> None:
    cache = TokenCache()
    cache.put(BpeTokenizer("o200k_base"), "a", 1)
    assert cache.get(BpeTokenizer("o200k_base"), "a") == 1
    assert cache.get(BpeTokenizer("cl100k_base"), "a") is None
    one, other = from_count(len, name="n"), from_count(lambda text: 7, name="n")
    cache.put(one, "a", 1)
    assert cache.get(other, "a") is None


def test_long_texts_are_not_kept() -> None:
    cache, tokenizer = TokenCache(max_text=3), from_count(len)
    assert TokenCache(max_chars=80).max_text == 10
    assert [cache.counter(tokenizer)(text) for text in ("abc", "abcd")] == [3, 4]
    assert cache.for_tokenizer(tokenizer) == {"abc": 3}


def test_the_older_half_goes_when_there_are_too_many() -> None:
    cache, tokenizer = TokenCache(max_entries=4), from_count(len)
    view = cache.for_tokenizer(tokenizer)
    for text in "abcde":
        view.put(text, 1)
    assert list(view) == ["d", "e"]
    assert len(cache) == 2


def test_the_older_half_goes_when_they_are_too_long_together() -> None:
    cache, tokenizer = TokenCache(max_chars=10, max_text=10), from_count(len)
    view = cache.for_tokenizer(tokenizer)
    for text in ("aaaa", "bbbb", "cccc"):
        view.put(text, 4)
    assert list(view) == ["cccc"]
    assert repr(cache) == "<TokenCache of 1 texts, 4 characters>"


def test_the_bounds_hold_over_all_tokenizers() -> None:
    cache = TokenCache(max_entries=10)
    tokenizers = [from_count(len, name=str(number)) for number in range(6)]
    for number in range(300):
        cache.put(tokenizers[number % 6], str(number), 1)
        assert sum(len(cache.for_tokenizer(tokenizer)) for tokenizer in tokenizers) == len(cache) <= 10


def test_only_so_many_tokenizers_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenCache, "max_views", 2)
    cache = TokenCache(max_entries=4)
    tokenizers = [from_count(len, name=name) for name in "abc"]
    first = cache.for_tokenizer(tokenizers[0])
    for tokenizer in tokenizers:
        cache.put(tokenizer, "x", 1)
    assert len(cache) == 2
    assert first == {"x": 1}
    for text in "pqrst":  # the view that was dropped goes on by itself, within the bounds
        first.put(text, 1)
    assert len(first) <= 4
    assert cache.for_tokenizer(tokenizers[0]) is not first


def test_clear() -> None:
    cache, tokenizer = TokenCache(), from_count(len)
    view = cache.for_tokenizer(tokenizer)
    view.put("a", 1)
    cache.clear()
    assert (len(cache), view, cache.get(tokenizer, "a")) == (0, {}, None)


def test_many_threads() -> None:
    cache, tokenizer = TokenCache(max_entries=50), from_count(len)
    ready = threading.Barrier(8)

    def work(seed: int) -> int:
        counter = cache.counter(tokenizer)
        ready.wait()
        texts = [str(number * seed % 400) for number in range(4_000)]
        return sum(counter(text) != len(text) for text in texts)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(1, 9))) == 0
    assert len(cache) == len(cache.for_tokenizer(tokenizer)) <= 50


@pytest.mark.parametrize(("name", "value"), [("max_entries", 0), ("max_chars", -1)])
def test_bounds_of_at_least_1(name: str, value: int) -> None:
    with pytest.raises(ArgumentValueError, match=rf"TokenCache\(\) needs {name} of at least 1, got {value}"):
        TokenCache(**{name: value})


def test_messages_go_with_the_counts() -> None:
    cache, tokenizer = TokenCache(max_entries=4), from_count(len)
    view = cache.for_tokenizer(tokenizer)
    message = ChatMessage("user", (TextPart("ab"),))
    for number in range(4):
        view.put(str(number), 1)
    view.messages["0"] = message
    view.put("4", 1)  # the older half goes, and all messages
    assert list(view) == ["3", "4"]
    assert view.messages == {}
    view.messages["3"] = message
    cache.clear()
    assert view.messages == {}
