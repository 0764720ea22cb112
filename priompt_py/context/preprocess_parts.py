"""Small steps of ``preprocess``: which files count, and what becomes of a message."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import attrs

from priompt_py.author.checks import got, wrong_type
from priompt_py.context.messages import Attachment, Hit, Message, Part, TextPart
from priompt_py.context.reading import Content

__all__ = ["checked_hits", "distinct", "distinct_contents", "free_id", "is_file", "with_text"]


def is_file(attachment: Attachment) -> bool:
    """Whether an attachment is measured, put in or searched."""
    return attachment.kind != "image" and not attachment.inlined


def distinct(attachments: Any) -> list[Attachment]:
    """Attachments without those whose id came before."""
    found: dict[str, Attachment] = {}
    for one in cast("Iterator[Attachment]", attachments):
        found.setdefault(one.id, one)
    return list(found.values())


def distinct_contents(contents: Sequence[Content]) -> list[Content]:
    """Contents without those whose text came before; the unread ones all stay."""
    seen: set[bytes] = set()
    found: list[Content] = []
    for content in contents:
        if content.text is not None:
            digest = hashlib.sha256(content.text.encode("utf-8", "replace")).digest()
            if digest in seen:
                continue
            seen.add(digest)
        found.append(content)
    return found


def free_id(history: Sequence[Message]) -> str:
    """An id that no message has."""
    taken = {message.id for message in history}
    return next(name for name in (f"?{n}" for n in range(len(taken) + 1)) if name not in taken)


def with_text(message: Message, text: str) -> Message:
    """The message with this text in place of its own; its other parts stay where they are."""
    places = [index for index, part in enumerate(message.parts) if isinstance(part, TextPart)]
    parts: list[Part] = [part for part in message.parts if not isinstance(part, TextPart)]
    parts.insert(places[0] if places else 0, TextPart(text))
    return attrs.evolve(message, parts=tuple(parts))


def checked_hits(given: object) -> list[Hit]:
    """What a retriever gave, as hits; raises ArgumentTypeError."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise wrong_type("retriever", f"a retriever gives a list of Hits, got {got(given)}")
    hits = list(cast("Sequence[object]", given))
    for hit in hits:
        if not isinstance(hit, Hit):
            raise wrong_type("retriever", f"a retriever gives a list of Hits, got {got(hit)} in it")
    return cast("list[Hit]", hits)
