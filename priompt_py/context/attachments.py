"""Attachments in a prompt: what each may show, and as a ladder of which the renderer takes the longest that fits.

An attachment has up to three forms: its content in *full*, a *preview* of its first lines, and a *placeholder* that
says that it is there. Which of them may stand in a prompt, and which one a prompt without priorities shows, is this
table's matter (``tools`` says whether the model can call ``read_file`` and its like):

=========== ========================================= =====================================================
mode        when                                      forms, the best first
=========== ========================================= =====================================================
auto        at most 500 lines, or no tools            full, preview, placeholder
auto        more lines, and tools                     preview, placeholder
full                                                  full, preview, placeholder
preview                                               preview, placeholder
placeholder                                           placeholder; nothing is read
retrieval                                             a reminder to search it; nothing is read
tool-only   it has a path, and tools; else as auto    a hint to read it; nothing is read
sandbox     it has a path; else as auto               path and size; nothing is read
=========== ========================================= =====================================================

A text that has no more lines than a preview, and not more than 100 characters for each of them, is its own preview: short
files don't go because long ones have to. What is no longer than the placeholder always stands in its place, since leaving
it out would save nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from priompt_py.author.checks import whole_number
from priompt_py.author.tags import at_most, first, scope
from priompt_py.context.envelopes import Envelope, count_lines, first_lines
from priompt_py.context.messages import Attachment, Message, TextPart
from priompt_py.context.reading import Content
from priompt_py.context.reports import Drop
from priompt_py.context.wording import WORDING, Wording
from priompt_py.model.elements import Node, Number, turn

__all__ = [
    "AttachmentOptions",
    "Forms",
    "append_attachments",
    "attachment_ladder",
    "forms_of",
    "ladder",
    "needs_reading",
    "shown_attachments",
]

FULL = -10_000_000
"""How far below its message's turn the full content of a file stands: below all history."""
PREVIEW = -1_000
"""Where previews stand: above all history, below what is required."""
MOST_FILES = 1_024
"""Files of one message that get levels of their own; later ones share the last."""
_LONG_LINE = 100  # characters
_STEP = 2.0**-21
"""From one preview to the next: with the base's 1,000,000,000 a double still holds it exactly, for a million messages."""


@attrs.frozen(kw_only=True)
class AttachmentOptions:
    """How attachments are shown. ``tools``: the model can call read_file and its like.

    Up to ``max_inline_lines`` lines go in whole where it can, ``preview_lines`` is how many a preview has. A preview
    that takes more than ``preview_percent`` per cent of the prompt's limit is left out, since it stands above the
    history and nothing below it could come in; None is no such bound.
    """

    tools: bool = False
    max_inline_lines: int = 500
    preview_lines: int = 100
    preview_percent: int | None = 33
    wording: Wording = WORDING

    def __attrs_post_init__(self) -> None:
        tag = type(self).__name__
        whole_number(tag, "max_inline_lines", self.max_inline_lines)
        whole_number(tag, "preview_lines", self.preview_lines)
        if self.preview_percent is not None:
            whole_number(tag, "preview_percent", self.preview_percent)


@attrs.frozen
class Forms:
    """What an attachment may show, each an envelope as text; the placeholder is always there.

    ``table`` is the name of the form that a prompt without priorities shows. The placeholder of a very short content
    is that content. ``preview_limit`` is how many tokens the preview may take, for ``at_most``.
    """

    attachment: Attachment
    full: str | None
    preview: str | None
    placeholder: str
    table: str
    preview_limit: str | None = None

    @property
    def text(self) -> str:
        """The form that a prompt without priorities shows."""
        return {"full": self.full, "preview": self.preview}.get(self.table) or self.placeholder


def shown_attachments(message: Message) -> list[Attachment]:
    """The attachments of a message that are shown as text, in the order of their indexes: files, then links.

    Not among them: images, which are content of their own, and what a former turn put into the message.
    """
    shown = [one for one in message.attachments if one.kind != "image" and not one.inlined]
    return sorted(shown, key=lambda one: one.kind == "link")


def needs_reading(attachment: Attachment, options: AttachmentOptions) -> bool:
    """Whether the content of an attachment takes part in how it is shown."""
    return _mode(attachment, options) in ("auto", "full", "preview")


def _mode(attachment: Attachment, options: AttachmentOptions) -> str:
    mode = attachment.mode
    if (mode == "tool-only" and not (attachment.path and options.tools)) or (
        mode == "sandbox" and not attachment.path
    ):
        return "auto"
    return mode


def forms_of(content: Content, index: int, options: AttachmentOptions) -> Forms:
    """What an attachment may show. ``index`` is its number in its message, from 1 (see :func:`shown_attachments`).

    ``content`` of an attachment that needs no reading may have no text. Nothing is read here.
    """
    attachment, words = content.attachment, options.wording
    base = Envelope(index=index, name=attachment.name, key=attachment.id)

    def only(placeholder: Envelope) -> Forms:
        return Forms(attachment, None, None, str(placeholder), "placeholder")

    mode = _mode(attachment, options)
    if mode == "retrieval":
        extra = [("RETRIEVAL_MODE", "true"), ("INDEX_STATUS", attachment.index_status)]
        if attachment.blocked_reason:
            extra.append(("BLOCKED_REASON", attachment.blocked_reason))
        return only(attrs.evolve(base, extra=(*extra, ("SYSTEM_REMINDER", words.retrieval_reminder))))
    if mode == "placeholder":
        return only(attrs.evolve(base, extra=(("HINT", words.on_request),)))
    if mode == "tool-only":
        return only(
            attrs.evolve(base, extra=(("FILE_PATH", attachment.path or ""), ("HINT", words.tool_only)))
        )
    if mode == "sandbox":
        size = None if content.text is None else _size(content.text)
        return only(attrs.evolve(base, size=size, extra=(("FILE_PATH", attachment.path or ""),)))
    text = content.text
    if text is None:
        detail = words.no_content.format(detail=content.detail or "it was not read")
        return only(attrs.evolve(base, extra=(("REASON", content.problem or "unreadable"), ("HINT", detail))))
    lines = count_lines(text)
    whole = attrs.evolve(base, lines=lines, size=_size(text))
    full = str(attrs.evolve(whole, content=text))
    preview = None
    if lines > options.preview_lines > 0:
        said = (words.preview_tool if options.tools else words.preview).format(
            shown=options.preview_lines, lines=lines
        )
        cut = first_lines(text, options.preview_lines)
        preview = str(
            attrs.evolve(whole, content=cut, extra=(("TRUNCATED", f"{said} FILE_KEY: {attachment.id}"),))
        )
    elif len(text) <= _LONG_LINE * options.preview_lines:
        preview = full
    hint = words.left_out_tool if options.tools else words.left_out
    placeholder = str(attrs.evolve(whole, extra=(("HINT", hint),)))
    if len(full) <= len(placeholder):  # leaving it out would save nothing
        return Forms(attachment, None, None, full, "full")
    if preview is not None and len(preview) <= len(placeholder):
        preview = None
    limit = None
    if preview is not None and options.preview_percent is not None:
        # A token is a byte or more, so that the placeholder always has its place.
        limit = f"{options.preview_percent}% + {_size(placeholder)}"
    long = options.tools and lines > options.max_inline_lines
    if (mode == "preview" or (mode == "auto" and long)) and preview not in (None, full):
        return Forms(attachment, None, preview, placeholder, "preview", limit)
    return Forms(attachment, full, preview, placeholder, "full", limit)


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


# ------------------------------------------------------------------------------------------ as text


def append_attachments(
    message: Message, contents: Sequence[Content], options: AttachmentOptions
) -> tuple[Message, list[Drop]]:
    """The message with the text of its attachments as a new last part, and what could not be shown.

    ``contents`` are those of :func:`shown_attachments`, in their order. No priorities: each shows the form of the
    table. A message without shown attachments is given back as it is.
    """
    if not contents:
        return message, []
    drops = [
        Drop(message.id, None, "attachments", content.problem, f"{content.attachment.name}: {content.detail}")
        for content in contents
        if content.problem is not None and needs_reading(content.attachment, options)
    ]
    texts = [forms_of(content, index, options).text for index, content in enumerate(contents, 1)]
    return attrs.evolve(message, parts=(*message.parts, TextPart("".join(texts)))), drops


# ------------------------------------------------------------------------------------------ as a ladder


def ladder(
    *,
    full: Node = None,
    preview: Node = None,
    placeholder: Node,
    full_at: Number,
    preview_at: Number,
    preview_limit: int | str | None = None,
    key: str | None = None,
) -> Node:
    """The longest form that fits, as one element; forms that are None are left out. Content that is its own preview
    stands where previews do.

    ``full_at`` and ``preview_at`` are the ``prel`` of both scopes; the placeholder stands where the ladder stands. A
    preview of more than ``preview_limit`` tokens (as for ``at_most``) is left out.
    """
    is_own_preview = full is not None and full == preview
    shorter: Node = [
        None
        if preview is None
        else scope(prel=preview_at, key="full" if is_own_preview else "preview")[preview],
        scope(prel=0, key="placeholder")[placeholder],
    ]
    if preview is not None and preview_limit is not None:
        shorter = at_most(token_limit=preview_limit)[first[shorter]]
    return first(name=key)[
        None if full is None or is_own_preview else scope(prel=full_at, key="full")[full], shorter
    ]


def attachment_ladder(
    forms: Forms, *, message_index: int, file_index: int = 0, within: Number = 0, together: bool = False
) -> Node:
    """An attachment as a :func:`ladder`, at the levels that files have beside a history.

    ``message_index`` is the 0-based index of its message since the conversation began, ``file_index`` its own one
    among the attachments of that message: of two files the newer keeps its content longer. With ``together`` all
    files of the prompt share a level, so that they are shown in full together or not at all. ``within`` is the
    ``prel`` of what the ladder is put into, if that has one. Levels never move while the conversation grows:

    * full: ``turn(message_index) - 10_000_000``, below all history, plus 1/1024 for each file before it;
    * preview: from ``-1_000`` up to ``-488``, above all history;
    * placeholder: as long as what it stands in.
    """
    file = min(whole_number("attachment_ladder", "file_index", file_index), MOST_FILES - 1)
    index = whole_number("attachment_ladder", "message_index", message_index)
    if together:
        full_at: Number = FULL
        preview_at: Number = PREVIEW
    else:
        full_at = turn(index) + FULL + file / MOST_FILES
        preview_at = PREVIEW + min(index * MOST_FILES + file, MOST_FILES << 20) * _STEP
    return ladder(
        full=forms.full,
        preview=forms.preview,
        placeholder=forms.placeholder,
        full_at=full_at - within,
        preview_at=preview_at - within,
        preview_limit=forms.preview_limit,
        key=forms.attachment.id,
    )
