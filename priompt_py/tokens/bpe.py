"""The default tokenizer: tiktoken on a packaged vocabulary, loaded at the first count.

tiktoken's registry, the environment and the network are left alone: a private ``tiktoken.Encoding`` is made from
our own ranks. Loading o200k_base takes about 230 ms and 75 MB, cl100k_base 100 ms; a line of 40 characters then
takes 3 µs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from priompt_py.errors import TokenizerError
from priompt_py.tokens.encodings import ENCODINGS, WHITE, EncodingSpec, cuts_for_pattern
from priompt_py.tokens.locks import ForkLock
from priompt_py.tokens.safe_cuts import SafeCuts

if TYPE_CHECKING:
    import tiktoken

    from priompt_py.tokens.chat_format import ChatFormat
    from priompt_py.tokens.tokenizer import CountKind

__all__ = ["ENCODINGS", "BpeTokenizer", "from_tiktoken", "is_tiktoken_encoding"]

#: tiktoken's regex engine gives up after 1,000,000 steps back, and tiktoken then panics (a ``BaseException``):
#: runs of this many white characters are taken out of its hands. Shorter ones never fail.
WHITE_LIMIT = 999_999

_WHITE_RUN = re.compile(f"[{WHITE}]*")

#: Encodings that have been loaded, by the name of the encoding.
_loaded: dict[str, tiktoken.Encoding] = {}
_load_lock = ForkLock()


class BpeTokenizer:
    """A tiktoken encoding as a :class:`~priompt_py.tokens.tokenizer.Tokenizer`.

    ``BpeTokenizer("o200k_base")`` is cheap: the vocabulary comes in at the first count, once per process and
    encoding, whatever the number of threads. Objects pickle by name. Text is always ordinary text: special
    tokens are never made from it. Lone surrogates count as U+FFFD, halves of one character as that character.
    """

    __slots__ = ("__weakref__", "_encode", "_encoding", "_spec", "max_token_bytes", "name", "safe_cuts")

    name: str
    safe_cuts: SafeCuts | None
    max_token_bytes: int | None

    def __init__(self, name: str) -> None:
        spec = ENCODINGS.get(name)
        if spec is None:
            raise TokenizerError(
                f"no packaged encoding is named {name!r}; there are {', '.join(sorted(ENCODINGS))}"
            )
        self.name = name
        self.safe_cuts = spec.safe_cuts
        self.max_token_bytes = spec.max_token_bytes
        self._spec: EncodingSpec | None = spec
        self._encoding: tiktoken.Encoding | None = None
        self._encode: Callable[[str], list[int]] = self._load_and_encode

    @classmethod
    def of_encoding(cls, encoding: tiktoken.Encoding) -> BpeTokenizer:
        """A tokenizer around an encoding that tiktoken has already loaded (a plugin's, your own).

        Has safe cuts if it splits text with one of the patterns that we know. Pickles as tiktoken does.
        """
        self = cls.__new__(cls)
        self.name = encoding.name
        # Private, but what the cuts rest on; tiktoken has no other way to tell.
        pattern = encoding._pat_str  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        self.safe_cuts = cuts_for_pattern(pattern)
        self.max_token_bytes = max(map(len, encoding.token_byte_values()), default=1)
        self._spec = next((spec for spec in ENCODINGS.values() if spec.pattern == pattern), None)
        self._encoding = encoding
        self._encode = encoding.encode_ordinary
        return self

    @property
    def is_packaged(self) -> bool:
        """Whether the vocabulary is one of ours, so that the name says all."""
        return self._spec is not None and self._spec is ENCODINGS.get(self.name)

    @property
    def kind(self) -> CountKind:
        return "exact"

    @property
    def chat_format(self) -> ChatFormat | None:
        return None if self._spec is None else self._spec.chat_format

    def count(self, text: str) -> int:
        """The number of tokens of ``text``."""
        if len(text) < WHITE_LIMIT:
            return len(self._encode(text))
        return sum(map(len, self._encode_pieces(text)))

    def encode(self, text: str) -> list[int]:
        """The ids of the tokens of ``text``, none of them a special one."""
        if len(text) < WHITE_LIMIT:
            return self._encode(text)
        return [number for piece in self._encode_pieces(text) for number in piece]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special ones too; bytes that are no UTF-8 become U+FFFD."""
        encoding = self.load()
        try:
            return encoding.decode(ids)
        except (KeyError, OverflowError):
            unknown = next(number for number in ids if not _is_known(encoding, number))
            raise TokenizerError(f"{self.name} has no token with the id {unknown!r}") from None

    def load(self) -> tiktoken.Encoding:
        """Loads the vocabulary now, if it is not there yet; gives the encoding."""
        if self._encoding is None:
            self._encoding = _load(self.name, ENCODINGS[self.name])
            self._encode = self._encoding.encode_ordinary
        return self._encoding

    def _load_and_encode(self, text: str) -> list[int]:
        return self.load().encode_ordinary(text)

    def _encode_pieces(self, text: str) -> Iterator[list[int]]:
        """The ids of a long text, part by part: long runs of white are handed over as single tokens' pieces."""
        encoding, done = self.load(), 0
        for start, end in self._white_pieces(text):
            yield self._encode_long(text[done:start])
            # The public way splits with the pattern first, which is what must not happen here.
            encode = encoding._encode_single_piece  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            yield encode(text[start:end].encode())
            done = end
        yield self._encode_long(text[done:])

    def _white_pieces(self, text: str) -> Iterator[tuple[int, int]]:
        if self._spec is not None:
            for start, end in _long_white(text, WHITE_LIMIT):
                piece = _white_piece(text, start, end, self._spec)
                if piece is not None:
                    yield piece

    def _encode_long(self, text: str) -> list[int]:
        try:
            return self._encode(text)
        except BaseException as error:
            # pyo3's panics derive from BaseException, and a caller's `except Exception` would miss them.
            if type(error).__name__ != "PanicException":
                raise
            raise TokenizerError(
                f"tiktoken gave up on a text of {len(text):,} characters: {error}"
            ) from error

    def __repr__(self) -> str:
        return f"BpeTokenizer({self.name!r})"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self.is_packaged:
            return BpeTokenizer, (self.name,)
        return BpeTokenizer.of_encoding, (self.load(),)


def is_tiktoken_encoding(value: object) -> TypeGuard[tiktoken.Encoding]:
    """Whether ``value`` is a ``tiktoken.Encoding``; does not import tiktoken to find out."""
    import sys

    encoding: type | None = getattr(sys.modules.get("tiktoken"), "Encoding", None)
    return encoding is not None and isinstance(value, encoding)


def from_tiktoken(name: str) -> BpeTokenizer:
    """The tokenizer for an encoding that is not packaged but that tiktoken has loaded in this process.

    Nothing is fetched: where tiktoken would have to load the encoding first (which may use the network), this
    refuses and says what to do. Raises :class:`TokenizerError` for names that nobody knows, with near names.
    """
    from tiktoken import registry

    loaded = registry.ENCODINGS.get(name)
    if loaded is not None:
        return BpeTokenizer.of_encoding(loaded)
    if name in registry.list_encoding_names():
        raise TokenizerError(
            f"the encoding {name!r} is not packaged and not loaded, and loading it may need the network: "
            f"call tiktoken.get_encoding({name!r}) first, or pass the tiktoken.Encoding itself"
        )
    from priompt_py.tokens.models import unknown_name

    raise unknown_name(name)


def _is_known(encoding: tiktoken.Encoding, number: int) -> bool:
    try:
        encoding.decode_single_token_bytes(number)
    except (KeyError, OverflowError):
        return False
    return True


def _load(name: str, spec: EncodingSpec) -> tiktoken.Encoding:
    with _load_lock:
        encoding = _loaded.get(name)
        if encoding is None:
            import tiktoken  # 25 ms

            from priompt_py.tokens.vocabularies import read_ranks

            encoding = _loaded[name] = tiktoken.Encoding(
                name,
                pat_str=spec.pattern,
                mergeable_ranks=read_ranks(spec.vocabulary),
                special_tokens=dict(spec.special_tokens),
            )
        return encoding


# ------------------------------------------------------------------------------------------- long white


def _long_white(text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Start and end of the runs of at least ``limit`` white characters, in order.

    Every such run covers a multiple of ``limit``, so only those places are looked at: nothing on prose.
    """
    end = 0
    for probe in range(0, len(text), limit):
        if probe < end or text[probe] not in WHITE:
            continue
        before = text[max(0, probe - limit) : probe]
        start = probe - (len(before) - len(before.rstrip(WHITE)))
        run = _WHITE_RUN.match(text, probe)
        end = probe if run is None else run.end()
        if end - start >= limit:
            yield start, end


def _white_piece(text: str, start: int, end: int, spec: EncodingSpec) -> tuple[int, int] | None:
    r"""The part of the white run ``text[start:end]`` that the pattern makes one piece of, if it is as long as
    to be trouble: what stands before and after it is tokenised as if alone.

    In all patterns white before something else leaves its last character to what follows (``\s+(?!\S)``). In
    o200k and cl100k a run is first cut after its last line break (R1's argument, with white on the right:
    no piece goes on from a line break to white that is none).
    """
    if end == len(text):
        if spec.at_end:
            return None  # one piece by a rule that never steps back
    else:
        end -= 1
    if spec.breaks_alone:
        start = 1 + max(start - 1, text.rfind("\n", start, end + 1), text.rfind("\r", start, end + 1))
    return (start, end) if end - start >= 1 else None
