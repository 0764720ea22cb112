"""What a tokenizer is, and where to get one.

A :class:`Tokenizer` is any object with ``name``, ``count``, ``encode`` and ``decode``. What else it may say
about itself is optional and read through the ``…_of`` functions here, so that a five-line class will do:

``safe_cuts``
    a :class:`SafeCuts`: where its counts add up exactly. Without it every text is counted whole, which is
    right but slow.
``max_token_bytes``
    the most UTF-8 bytes of text that one token can stand for.
``chat_format``
    a :class:`~priompt_py.tokens.chat_format.ChatFormat`: what messages cost, how a chat is laid out.
``kind``
    ``"exact"`` (when it says nothing), ``"estimate"`` or ``"upper_bound"``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeGuard, cast, get_args, runtime_checkable

from priompt_py.errors import TokenizerError
from priompt_py.tokens.callables import CallableTokenizer, from_count
from priompt_py.tokens.locks import ForkLock
from priompt_py.tokens.safe_cuts import ANYWHERE, SafeCuts, count_up_to

if TYPE_CHECKING:
    from priompt_py.tokens.chat_format import ChatFormat

__all__ = [
    "ANYWHERE",
    "CallableTokenizer",
    "CountKind",
    "SafeCuts",
    "Tokenizer",
    "chat_format_of",
    "count_up_to",
    "from_count",
    "get_tokenizer",
    "kind_of",
    "list_tokenizers",
    "max_token_bytes_of",
    "register_tokenizer",
    "safe_cuts_of",
]

CountKind = Literal["exact", "estimate", "upper_bound"]


@runtime_checkable
class Tokenizer(Protocol):
    """Counts, encodes and decodes text; the rest is optional, see the module's text.

    Text is ordinary text, always: what looks like a special token is counted and encoded as the characters
    it is made of. ``count(text)`` is ``len(encode(text))`` where ``kind`` is ``"exact"``. All methods may be
    called by several threads at once.
    """

    @property
    def name(self) -> str:
        """A name for messages and caches; two tokenizers of one class and name count alike."""
        ...

    def count(self, text: str, /) -> int:
        """The number of tokens of ``text``."""
        ...

    def encode(self, text: str, /) -> list[int]:
        """The token ids of ``text``."""
        ...

    def decode(self, ids: Sequence[int], /) -> str:
        """The text of token ids; bytes that are no UTF-8 become U+FFFD."""
        ...


def safe_cuts_of(tokenizer: Tokenizer) -> SafeCuts | None:
    """Where counts of ``tokenizer`` add up exactly; ``None`` if it doesn't say."""
    return cast("SafeCuts | None", getattr(tokenizer, "safe_cuts", None))


def max_token_bytes_of(tokenizer: Tokenizer) -> int | None:
    """The most UTF-8 bytes that one token of ``tokenizer`` holds; ``None`` if it doesn't say."""
    return cast("int | None", getattr(tokenizer, "max_token_bytes", None))


def chat_format_of(tokenizer: Tokenizer) -> ChatFormat:
    """The chat format of ``tokenizer``; if it has none, OpenAI's costs without ids for the marks."""
    from priompt_py.tokens.chat_format import OPENAI_CHAT

    found = cast("ChatFormat | None", getattr(tokenizer, "chat_format", None))
    return OPENAI_CHAT if found is None else found


def kind_of(tokenizer: Tokenizer) -> CountKind:
    """Whether counts of ``tokenizer`` are exact; ``"exact"`` if it doesn't say."""
    kind = getattr(tokenizer, "kind", "exact")
    if kind not in get_args(CountKind):
        allowed = ", ".join(map(repr, get_args(CountKind)))
        raise TokenizerError(f"a tokenizer's kind is one of {allowed}; {_label(tokenizer)} says {kind!r}")
    return cast("CountKind", kind)


# ------------------------------------------------------------------------------------------- registry

_factories: dict[str, Callable[[], Tokenizer]] = {}
_made: dict[str, Tokenizer] = {}
_lock = ForkLock()


def register_tokenizer(name: str, factory: Callable[[], Tokenizer], *, replace: bool = False) -> None:
    """Makes ``get_tokenizer(name)`` give what ``factory()`` returns; it is called once, when first asked for.

    Names that are taken, the packaged encodings' and those of models in the table are refused, unless
    ``replace`` is true.
    """
    given: object = name
    if not isinstance(given, str) or not given:
        raise TokenizerError(f"register_tokenizer() needs a name (str), got {given!r}")
    if not callable(factory):
        raise TokenizerError(
            f"register_tokenizer({name!r}) needs a function without arguments, got {factory!r}"
        )
    with _lock:
        if not replace and (name in list_tokenizers() or _model_encoding(name) is not None):
            raise TokenizerError(f"the tokenizer name {name!r} is taken; pass replace=True to take it over")
        _factories[name] = factory
        _made.pop(name, None)


def list_tokenizers() -> tuple[str, ...]:
    """The names that ``get_tokenizer`` knows besides model names, sorted."""
    from priompt_py.tokens.bpe import ENCODINGS
    from priompt_py.tokens.estimate import ESTIMATES

    with _lock:
        return tuple(sorted({*ENCODINGS, *ESTIMATES, *_factories}))


def get_tokenizer(name_or_object: object, *, model: str | None = None) -> Tokenizer:
    """The tokenizer that is asked for.

    ``name_or_object`` is the name of an encoding (``"o200k_base"``, any tiktoken name), of a registered
    tokenizer, or of a model that the table lists (``"gpt-4o"``); an object of the :class:`Tokenizer`
    protocol; a ``tiktoken.Encoding``; or a function that counts, such as ``len``. ``None`` is accepted only
    with ``model``, whose tokenizer it then is.

    Raises :class:`TokenizerError` for names that are not known (with the nearest ones), for objects that
    lack something (it says what), and for encodings that can't be had without the network.
    """
    if name_or_object is None:
        if model is None:
            raise TokenizerError(
                "a tokenizer is needed: the name of an encoding ('o200k_base'), a model ('gpt-4o'), "
                "or an object with name, count, encode and decode; got None"
            )
        name_or_object = model
    if isinstance(name_or_object, str):
        return _by_name(name_or_object)
    if _is_tokenizer(name_or_object):
        return name_or_object
    from priompt_py.tokens import bpe

    if bpe.is_tiktoken_encoding(name_or_object):
        return bpe.BpeTokenizer.of_encoding(name_or_object)
    if not isinstance(name_or_object, type) and callable(name_or_object):
        return from_count(cast("Callable[[str], int]", name_or_object))
    raise TokenizerError(_what_is_missing(name_or_object))


def _by_name(name: str) -> Tokenizer:
    made = _made.get(name)
    if made is not None:
        return made
    from priompt_py.tokens import bpe
    from priompt_py.tokens.estimate import ESTIMATES, estimate_tokenizer

    with _lock:
        if name in _made:
            return _made[name]
        if name in _factories:
            tokenizer = _factories[name]()
            if not _is_tokenizer(tokenizer):
                raise TokenizerError(f"the factory of {name!r}: {_what_is_missing(tokenizer)}")
        elif name in bpe.ENCODINGS:
            tokenizer = bpe.BpeTokenizer(name)
        elif name in ESTIMATES:
            tokenizer = estimate_tokenizer(ESTIMATES[name])
        elif (encoding := _model_encoding(name)) is not None:
            return _by_name(encoding)
        else:
            return bpe.from_tiktoken(name)  # not kept: a plugin's encoding may be loaded later
        _made[name] = tokenizer
        return tokenizer


def _model_encoding(name: str) -> str | None:
    from priompt_py.tokens.models import find_model

    found = find_model(name)
    return None if found is None else found.encoding


def _is_tokenizer(value: object) -> TypeGuard[Tokenizer]:
    return not isinstance(value, type) and not _missing(value)


def _missing(value: object) -> list[str]:
    missing = [] if isinstance(getattr(value, "name", None), str) else ["name (str)"]
    methods = ("count", "encode", "decode")
    missing += [f"{method}()" for method in methods if not callable(getattr(value, method, None))]
    return missing


def _what_is_missing(value: Any) -> str:
    if isinstance(value, type):
        if not [name for name in ("count", "encode", "decode") if not hasattr(value, name)]:
            return f"{value.__name__} is a class; pass an object of it: {value.__name__}()"
        return f"not a tokenizer: the class {value.__name__}"
    missing = _missing(value)
    if len(missing) == 4:
        return (
            f"not a tokenizer: {value!r:.80} ({type(value).__name__}); pass a name such as 'o200k_base' or "
            "'gpt-4o', or an object with name, count, encode and decode"
        )
    return f"not a tokenizer: {_label(value)} lacks {', '.join(missing)}"


def _label(value: object) -> str:
    name = getattr(value, "name", None)
    kind = type(value).__name__
    return f"{kind} {name!r}" if isinstance(name, str) else kind
