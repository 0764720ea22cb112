"""The sentences that go to a model, as data: change them with ``attrs.evolve(WORDING, ...)``."""

from __future__ import annotations

import attrs

__all__ = ["WORDING", "Wording"]


@attrs.frozen(kw_only=True)
class Wording:
    """Every sentence of ours that a model reads. What stands in braces is filled in; other braces are doubled.

    The labels around contents (``** NAME full content **``, ``Citation 1:``, ``<ATTACHMENT_FILE>``) are no sentences:
    they are fixed, so that a model's instructions can speak of them.
    """

    full_intro: str = "The user attached files to this message. Their whole content follows, each between two marked lines.\n"
    full_request: str = "Answer the user's query with the help of these files."
    hits_intro: str = "These passages were found in the user's files:"
    hits_use: str = "Use the passages where they help to answer; if none of them does, answer without them and don't speak of them."
    hits_left_out: str = "(Passages found in the user's files and left out for lack of space: {count}.)"
    no_hits: str = (
        "A search in the user's files found nothing that belongs to the query. Say so in a few words, "
        "then answer as well as you can."
    )
    search_failed: str = (
        "The user's files could not be searched. Say so in a few words, then answer as well as you can."
    )
    unread_file: str = "(The file {name} could not be read: {detail}.)"
    preview: str = "The first {shown} of {lines} lines."
    preview_tool: str = "The first {shown} of {lines} lines; read more with read_file and the FILE_KEY."
    left_out: str = "The content was left out for lack of space."
    left_out_tool: str = (
        "The content was left out for lack of space; read it with read_file and the FILE_KEY."
    )
    no_content: str = "There is no content: {detail}."
    on_request: str = "The content is not shown here."
    tool_only: str = "The content is not shown here; read it with read_file and the FILE_KEY."
    retrieval_reminder: str = (
        "This file is searched, not shown. For questions about it call query_session_attachment, then "
        "read_session_attachment_parents for what stands around a hit. Answer questions that have nothing to do with "
        "it as usual."
    )
    summary_instructions: str = (
        "Summarise this conversation for the assistant that goes on with it: what the user wants, what was decided and "
        "found out, names, numbers and open questions. Leave out greetings. Write in the conversation's language."
    )


WORDING = Wording()
