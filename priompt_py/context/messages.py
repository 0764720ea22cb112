"""A conversation as data: messages, what they hold, what hangs on them. Immutable, hashable where its values are, no clocks.

::

    Message                   id, role, parts, step, attachments; is_summary, pinned, hidden, generating, error, name
    ├── parts                 in order
    │   ├── TextPart          text
    │   ├── ImagePart         data or url
    │   ├── ReasoningPart     what a model thought; goes with its message's calls
    │   ├── InfoPart          a note for the user; never sent
    │   ├── ToolCallPart      id, name, args (JSON text as sent)
    │   ├── ToolResultPart    call_id, content
    │   └── OpaquePart        anything else, for its provider alone
    └── attachments           Attachment: a file, an image or a link

Beside the messages stand ``CompactionPoint`` (what a summary stands for) and ``Hit`` (a piece that a search found).
Ids are given by whoever makes the messages, and never made here; the passes tell messages apart by them alone. All
indexes count from 0, except those that a docstring says are for people.

What is wrong is refused when it is made: ArgumentTypeError for a wrong type (bytes as text, bool or float as a count),
ArgumentValueError for a wrong value, both by name and value. Texts are cleaned like those of elements: surrogate halves
that form a pair are joined, lone ones become U+FFFD.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

import attrs

from priompt_py.author.checks import choice, got, text, text_or_none, truth, wrong_type, wrong_value
from priompt_py.author.json_values import json_argument

__all__ = [
    "Attachment",
    "AttachmentKind",
    "AttachmentMode",
    "CompactionPoint",
    "Hit",
    "ImagePart",
    "IndexStatus",
    "InfoPart",
    "Message",
    "OpaquePart",
    "Part",
    "ReasoningPart",
    "Role",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
]

Role = Literal["system", "developer", "user", "assistant", "tool"]
AttachmentKind = Literal["file", "image", "link"]
AttachmentMode = Literal["auto", "full", "preview", "retrieval", "placeholder", "tool-only", "sandbox"]
Detail = Literal["low", "high", "auto"]
IndexStatus = Literal["pending", "indexing", "ready", "failed"]

ROLES: tuple[str, ...] = get_args(Role)


def _checked_by(check: Any, *arguments: Any) -> Any:
    """An attrs validator that puts in the field what ``check(class name, field name, value, …)`` gives."""

    def validate(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
        clean = check(type(instance).__name__, attribute.name, value, *arguments)
        if clean is not value:
            object.__setattr__(instance, attribute.name, clean)

    return validate


_text = text


def _name(tag: str, name: str, value: object) -> str:
    clean = text(tag, name, value)
    if not clean:
        raise wrong_value(name, f"{tag}() needs {name}, got an empty text")
    return clean


def _whole_or_none(tag: str, name: str, value: object) -> int | None:
    if value is not None and type(value) is not int:
        raise wrong_type(name, f"{tag}() needs a whole number or None for {name}, got {name}={got(value)}")
    return value


def _bytes_or_none(tag: str, name: str, value: object) -> bytes | None:
    if value is None or type(value) is bytes:
        return value
    raise wrong_type(name, f"{tag}() needs bytes for {name}, got {name}={got(value)}")


def _json_mapping(tag: str, name: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong_type(name, f"{tag}() needs a mapping for {name}, got {name}={got(value)}")
    mapping = cast("Mapping[object, Any]", value)
    copied: dict[str, Any] = json_argument(tag, name, {text(tag, name, key): mapping[key] for key in mapping})
    return copied


# ------------------------------------------------------------------------------------------ parts


@attrs.frozen
class TextPart:
    """Text of the message."""

    text: str = attrs.field(validator=_checked_by(text))


@attrs.frozen
class ImagePart:
    """A picture: its bytes, or where it is. Exactly one of both; ``detail`` is as for ``image``."""

    data: bytes | None = attrs.field(
        default=None, kw_only=True, validator=_checked_by(_bytes_or_none), repr=False
    )
    url: str | None = attrs.field(default=None, kw_only=True, validator=_checked_by(text_or_none))
    detail: Detail = attrs.field(
        default="auto", kw_only=True, validator=_checked_by(choice, get_args(Detail))
    )

    def __attrs_post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            met = "got neither" if self.data is None else "not both"
            raise wrong_value("data", f"ImagePart() needs data or url, {met}")


@attrs.frozen
class ReasoningPart:
    """What the model thought before it answered: ``text`` for people, ``data`` as ``provider`` wants it back.

    No pass parts it from the calls of its message.
    """

    text: str = attrs.field(validator=_checked_by(text))
    provider: str | None = attrs.field(default=None, validator=_checked_by(text_or_none))
    data: Mapping[str, Any] = attrs.field(
        factory=dict[str, Any], validator=_checked_by(_json_mapping), hash=False
    )


@attrs.frozen
class InfoPart:
    """A note for the user; it is never sent, and a message that holds nothing else counts as empty."""

    text: str = attrs.field(validator=_checked_by(text))


@attrs.frozen
class ToolCallPart:
    """A call that the assistant made; ``args`` is its JSON text as it was sent, whatever it holds."""

    id: str = attrs.field(validator=_checked_by(_name))
    name: str = attrs.field(validator=_checked_by(_name))
    args: str = attrs.field(default="{}", validator=_checked_by(text))


@attrs.frozen
class ToolResultPart:
    """What the call ``call_id`` gave. It may stand in a tool message, or behind its call in the assistant's own."""

    call_id: str = attrs.field(validator=_checked_by(_name))
    content: str = attrs.field(validator=_checked_by(text))
    is_error: bool = attrs.field(default=False, kw_only=True, validator=_checked_by(truth))


@attrs.frozen
class OpaquePart:
    """A part of a kind that isn't looked into (sound, a file that the provider reads), for ``provider`` alone.

    It costs ``tokens``, or what its JSON text does.
    """

    provider: str = attrs.field(validator=_checked_by(_name))
    data: Mapping[str, Any] = attrs.field(validator=_checked_by(_json_mapping), hash=False)
    tokens: int | None = attrs.field(default=None, kw_only=True, validator=_checked_by(_whole_or_none))


Part: TypeAlias = TextPart | ImagePart | ReasoningPart | InfoPart | ToolCallPart | ToolResultPart | OpaquePart

_PARTS = get_args(Part)
_NO_LISTS: tuple[type, ...] = (bytes, bytearray, Mapping, str)
_ONLY_IN: dict[type, tuple[str, ...]] = {  # what else would be sent by no provider
    ToolCallPart: ("assistant",),
    ToolResultPart: ("assistant", "tool"),
    ReasoningPart: ("assistant",),
}


def _parts(value: str | Part | Iterable[Part]) -> tuple[Part, ...]:
    """A text, or parts, as a tuple; what the parts are is checked with the message."""
    if isinstance(value, str):
        return (TextPart(value),)
    if isinstance(value, _PARTS):
        return (cast("Part", value),)
    return cast("tuple[Part, ...]", _tuple("parts", "a text or a list of parts", value))


def _tuple(name: str, what: str, value: object) -> tuple[object, ...]:
    if isinstance(value, tuple):
        return cast("tuple[object, ...]", value)
    given = value
    if not isinstance(value, Iterable) or isinstance(value, _NO_LISTS):
        raise wrong_type(name, f"Message() needs {what} for {name}, got {name}={got(given)}")
    return tuple(cast("Iterable[object]", value))


# ------------------------------------------------------------------------------------------ attachments


def _loader_or_none(tag: str, name: str, value: object) -> object:
    if value is not None and not callable(getattr(value, "read", None)):
        raise wrong_type(
            name, f"{tag}() needs an object with read(attachment) for {name}, got {name}={got(value)}"
        )
    return value


@attrs.frozen
class Attachment:
    """A file, an image or a link that came with a message, by reference.

    ``id`` is what read tools call it (FILE_KEY). Its content is ``text`` where that is given, else what ``loader``
    (a :class:`~priompt_py.context.protocols.Loader`) reads; ``path`` is where it lies, for the modes ``tool-only`` and
    ``sandbox``. ``inlined``: a former turn put its text into the message, so that it is searched no more.
    """

    id: str = attrs.field(validator=_checked_by(_name))
    name: str = attrs.field(validator=_checked_by(_name))
    kind: AttachmentKind = attrs.field(
        default="file", kw_only=True, validator=_checked_by(choice, get_args(AttachmentKind))
    )
    media_type: str | None = attrs.field(default=None, kw_only=True, validator=_checked_by(text_or_none))
    text: str | None = attrs.field(
        default=None, kw_only=True, validator=_checked_by(text_or_none), repr=False
    )
    loader: Any = attrs.field(default=None, kw_only=True, validator=_checked_by(_loader_or_none), repr=False)
    path: str | None = attrs.field(default=None, kw_only=True, validator=_checked_by(text_or_none))
    mode: AttachmentMode = attrs.field(
        default="auto", kw_only=True, validator=_checked_by(choice, get_args(AttachmentMode))
    )
    index_status: IndexStatus = attrs.field(
        default="pending", kw_only=True, validator=_checked_by(choice, get_args(IndexStatus))
    )
    blocked_reason: str | None = attrs.field(default=None, kw_only=True, validator=_checked_by(text_or_none))
    inlined: bool = attrs.field(default=False, kw_only=True, validator=_checked_by(truth))


# ------------------------------------------------------------------------------------------ messages


def _attachments(value: Iterable[Attachment]) -> tuple[Attachment, ...]:
    return cast("tuple[Attachment, ...]", _tuple("attachments", "a list of attachments", value))


@attrs.frozen
class Message:
    """One message of a conversation.

    ``parts`` may be given as a text. ``step`` is its place in time, in turns or any other whole unit, ascending;
    where one message of a chat has none, the passes that look at age take positions for all. ``is_summary``: it
    stands for what a compaction took out. ``pinned``: no pass drops it for its age, its place or its likeness. ``hidden``: a marker of the user interface.
    ``error``: why the turn failed; an empty text is none. ``name``: the speaker's, for the provider.

    Raises ArgumentTypeError and ArgumentValueError: also for calls and reasoning in other messages than the
    assistant's, results in those of others than assistant and tool, a tool message without a result, a summary with
    calls or results, and two calls, or two results, of one id.
    """

    id: str = attrs.field(validator=_checked_by(_name))
    role: Role = attrs.field(validator=_checked_by(choice, ROLES))
    parts: tuple[Part, ...] = attrs.field(default=(), converter=_parts)
    step: int | None = attrs.field(default=None, kw_only=True, validator=_checked_by(_whole_or_none))
    attachments: tuple[Attachment, ...] = attrs.field(default=(), kw_only=True, converter=_attachments)
    is_summary: bool = attrs.field(default=False, kw_only=True, validator=_checked_by(truth))
    pinned: bool = attrs.field(default=False, kw_only=True, validator=_checked_by(truth))
    hidden: bool = attrs.field(default=False, kw_only=True, validator=_checked_by(truth))
    generating: bool = attrs.field(default=False, kw_only=True, validator=_checked_by(truth))
    error: str | None = attrs.field(default=None, kw_only=True, validator=_checked_by(text_or_none))
    name: str | None = attrs.field(default=None, kw_only=True, validator=_checked_by(text_or_none))

    def __attrs_post_init__(self) -> None:
        if self.error == "":
            object.__setattr__(self, "error", None)
        where = f"message {self.id!r}"
        for i, part in enumerate(self.parts):
            if not isinstance(part, _PARTS):
                raise wrong_type("parts", f"{where}: parts[{i}] is no part, got {got(part)}")
            roles = _ONLY_IN.get(type(part))
            if roles is not None and self.role not in roles:
                raise wrong_value(
                    "parts",
                    f"{where}: a {type(part).__name__} belongs to a message of {' or '.join(roles)}, "
                    f"got role={self.role!r}",
                )
        for i, attachment in enumerate(self.attachments):
            if not isinstance(attachment, Attachment):
                raise wrong_type(
                    "attachments", f"{where}: attachments[{i}] is no Attachment, got {got(attachment)}"
                )
        if self.role == "tool" and not self.results:
            raise wrong_value(
                "parts", f"{where}: a tool message needs a ToolResultPart, which says its call_id"
            )
        if self.is_summary and (self.calls or self.results):
            raise wrong_value("is_summary", f"{where}: a summary is text; it holds no calls and no results")
        if len(self.parts) > 1:
            _check_unique(where, "calls", [call.id for call in self.calls])
            _check_unique(where, "results", [result.call_id for result in self.results])

    @property
    def text(self) -> str:
        """The texts of its text parts, with a line feed between them."""
        parts = self.parts
        if len(parts) == 1 and isinstance(parts[0], TextPart):
            return parts[0].text
        return "\n".join(part.text for part in parts if isinstance(part, TextPart))

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The calls that it makes, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCallPart))

    @property
    def results(self) -> tuple[ToolResultPart, ...]:
        """The results that it holds, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolResultPart))


def _check_unique(where: str, what: str, ids: list[str]) -> None:
    if len(set(ids)) < len(ids):
        again = next(id_ for i, id_ in enumerate(ids) if id_ in ids[:i])
        raise wrong_value("parts", f"{where}: two {what} of the id {again!r}")


# ------------------------------------------------------------------------------------------ beside the messages


@attrs.frozen
class CompactionPoint:
    """The summary ``summary_id`` stands for every message up to ``boundary_id``, that one included.

    ``created_at`` orders points, in any unit; the greatest one that applies counts.
    """

    summary_id: str = attrs.field(validator=_checked_by(_name))
    boundary_id: str = attrs.field(validator=_checked_by(_name))
    created_at: int | float = attrs.field()

    def __attrs_post_init__(self) -> None:
        when: object = self.created_at
        if type(when) is not int and type(when) is not float:
            raise wrong_type(
                "created_at", f"CompactionPoint() needs a number for created_at, got created_at={got(when)}"
            )
        if when != when:  # noqa: PLR0124 - NaN, which has no place in an order
            raise wrong_value("created_at", "CompactionPoint() needs a number for created_at, got NaN")


@attrs.frozen
class Hit:
    """A piece of text that a search found.

    ``affinity`` is how near it is to the query by the retriever's own measure (cosine, or the affinity of BM25),
    greater is nearer; ``source_id`` and ``chunk`` (from 0) say where it stands; ``rerank`` is the reranker's score,
    ``rank_score`` that of two searches fused, ``source_name`` what people call the source.
    """

    text: str = attrs.field(validator=_checked_by(text))
    affinity: float
    source_id: str = attrs.field(validator=_checked_by(_text))  # `text` is the field here
    chunk: int = 0
    rerank: float | None = None
    rank_score: float | None = attrs.field(default=None, kw_only=True)
    source_name: str | None = attrs.field(default=None, kw_only=True)
