"""Counts of texts that were counted before.

Counting a line takes 3 µs, finding it in a dict 0.1: prompts are rendered again and again with mostly the same
texts, so counts are kept across renders, by all threads, within bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import TYPE_CHECKING

from priompt_py.errors import ArgumentValueError
from priompt_py.model.prompt import ChatMessage
from priompt_py.tokens.locks import ForkLock

if TYPE_CHECKING:
    from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["CacheView", "TokenCache"]

#: One lock for the writers of all caches: they hold it for less than a microsecond, but when making room.
_lock = ForkLock()


class CacheView(dict[str, int]):
    """The known counts of one tokenizer. ``view.get(text)`` is a dict's own, without a lock.

    Write with :meth:`put` only: it keeps the bounds. ``messages`` are rendered messages of known texts by their text:
    most of a chat that has grown by a turn. Making one takes 1 µs, finding it 0.1.
    """

    __slots__ = ("_cache", "messages", "tokenizer")

    def __init__(self, cache: TokenCache, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._cache = cache
        #: Held, so that another object can't come to have its identity while the view lives.
        self.tokenizer = tokenizer
        self.messages: dict[str, ChatMessage] = {}

    def put(self, text: str, count: int) -> None:
        """Keeps ``count`` for ``text``, unless the text is longer than the cache takes."""
        self._cache.keep(self, text, count)

    def count(self, text: str) -> int:
        """The count of ``text``: known, or counted now and kept."""
        found = self.get(text)
        if found is None:
            found = self.tokenizer.count(text)
            self._cache.keep(self, text, found)
        return found


class TokenCache:
    """Counts of at most ``max_entries`` texts with ``max_chars`` code points together, by tokenizer.

    May be shared by all threads and all renders. When it is full, the older half goes. A text longer than
    ``max_text`` code points is never kept (by default an eighth of ``max_chars``).

    Memory: about 100 bytes an entry (400 where it is a message's whole text) and the texts' characters, of 1 byte each for ASCII and Latin-1, 2 for most other
    scripts, 4 where there are emoji; texts that the prompts hold anyway are shared, not copied. So the defaults come to
    10 MB, and up to 16 MB of texts (ASCII) that nothing else holds.
    """

    __slots__ = ("_chars", "_entries", "_views", "max_chars", "max_entries", "max_text")

    #: Tokenizers that are remembered at most.
    max_views = 64

    def __init__(
        self, max_entries: int = 100_000, max_chars: int = 16_000_000, *, max_text: int | None = None
    ) -> None:
        for name, value in (("max_entries", max_entries), ("max_chars", max_chars)):
            if value < 1:
                raise ArgumentValueError(f"TokenCache() needs {name} of at least 1, got {value!r}")
        self.max_entries = max_entries
        self.max_chars = max_chars
        self.max_text = max_chars // 8 if max_text is None else max_text
        self._views: dict[Hashable, CacheView] = {}
        self._entries = 0
        self._chars = 0

    def for_tokenizer(self, tokenizer: Tokenizer) -> CacheView:
        """The counts of ``tokenizer``: one view per packaged encoding, and per object for all other kinds."""
        key = _identity(tokenizer)
        view = self._views.get(key)
        if view is None:
            with _lock:
                view = self._views.setdefault(key, CacheView(self, tokenizer))
                while len(self._views) > self.max_views:
                    # A render that still has the view goes on with it; nothing else can see it.
                    oldest = next(iter(self._views))
                    dropped = self._views.pop(oldest)
                    self._entries -= len(dropped)
                    self._chars -= sum(map(len, dropped))
        return view

    def counter(self, tokenizer: Tokenizer) -> Callable[[str], int]:
        """A ``count`` function that looks here first."""
        return self.for_tokenizer(tokenizer).count

    def get(self, tokenizer: Tokenizer, text: str) -> int | None:
        """The known count of ``text``, ``None`` if there is none."""
        return self.for_tokenizer(tokenizer).get(text)

    def put(self, tokenizer: Tokenizer, text: str, count: int) -> None:
        """Keeps a count."""
        self.keep(self.for_tokenizer(tokenizer), text, count)

    def clear(self) -> None:
        """Forgets everything."""
        with _lock:
            for view in self._views.values():
                view.clear()
                view.messages.clear()
            self._views.clear()
            self._entries = self._chars = 0

    def __len__(self) -> int:
        return self._entries

    def __repr__(self) -> str:
        return f"<TokenCache of {self._entries:,} texts, {self._chars:,} characters>"

    def keep(self, view: CacheView, text: str, count: int) -> None:
        """What :meth:`CacheView.put` does."""
        length = len(text)
        if length > self.max_text:
            return
        with _lock:
            if text in view:
                return
            view[text] = count
            self._entries += 1
            self._chars += length
            if self._entries > self.max_entries or self._chars > self.max_chars:
                self._make_room(view)

    def _make_room(self, current: CacheView) -> None:
        # Halves: what is thrown out then costs less than 0.1 µs an entry that was put in. Counted anew, which also
        # mends the figures of a cache that was forked in the middle of this, or of a view that had been dropped.
        views = {id(view): view for view in (*self._views.values(), current)}.values()
        for view in views:
            for text in list(islice(view, (len(view) + 1) // 2)):
                del view[text]
            view.messages.clear()
        self._entries = sum(map(len, self._views.values()))
        self._chars = sum(len(text) for view in self._views.values() for text in view)


def _identity(tokenizer: Tokenizer) -> Hashable:
    from priompt_py.tokens.bpe import BpeTokenizer

    if isinstance(tokenizer, BpeTokenizer) and tokenizer.is_packaged:
        return tokenizer.name
    return id(tokenizer)
