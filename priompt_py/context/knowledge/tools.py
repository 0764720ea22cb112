"""Tools with which a model searches a knowledge base, and reads in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

from priompt_py.author.tools import tool_definition
from priompt_py.context.knowledge.store import DocumentInfo, StoredChunk
from priompt_py.context.reports import Found
from priompt_py.context.word_lists import fold, word_list
from priompt_py.context.words import CJK_RUN, words
from priompt_py.model.elements import ToolDefinition

if TYPE_CHECKING:
    from priompt_py.context.knowledge.base import KnowledgeBase

__all__ = ["KnowledgeTools", "is_small_talk"]

PAGE = 20
"""Documents on a page of ``kb_list``."""
MOST_READ = 20
"""Chunks, or documents, that one call is told of."""

_Query = Annotated[str, "What to look for: a question, or the words that the answer holds."]
_Ids = Annotated[list[str], "Ids of documents, at most 20."]
_Chunks = Annotated[list[str], "Chunks as DOCUMENT#NUMBER, as kb_query names them, at most 20."]
_Page = Annotated[int, "The page, from 0."]


class KnowledgeTools:
    """``kb_query``, ``kb_files``, ``kb_read`` and ``kb_list`` over a knowledge base.

    What is asked wrongly (a document that isn't there, a page behind the last) is answered by a sentence, since a model
    reads it. A query that is small talk isn't searched.
    """

    def __init__(self, base: KnowledgeBase) -> None:
        self._base = base

    def tools(self) -> list[ToolDefinition]:
        """The definitions of the four tools; a call of one is answered by this object."""
        return [tool_definition(one) for one in (self.kb_query, self.kb_files, self.kb_read, self.kb_list)]

    def async_tools(self) -> list[ToolDefinition]:
        """The same for an embedder or a reranker that is async."""
        return [tool_definition(self.akb_query, name="kb_query"), *self.tools()[1:]]

    def kb_query(self, query: _Query) -> str:
        """Search the user's knowledge base for what answers a question; not for greetings, thanks or small talk."""
        asked = _text(query)
        return _small_talk() if is_small_talk(asked) else _hits(self._base.search(asked))

    async def akb_query(self, query: _Query) -> str:
        """Search the user's knowledge base for what answers a question; not for greetings, thanks or small talk."""
        asked = _text(query)
        return _small_talk() if is_small_talk(asked) else _hits(await self._base.asearch(asked))

    def kb_files(self, ids: _Ids) -> str:
        """Tell about documents of the knowledge base: their names, how long they are, whether they can be searched."""
        asked = _list(ids)
        if not asked:
            return "ids is a list of documents; kb_list gives them."
        found = self._base.find_documents(asked[:MOST_READ])
        lines = [
            f"There is no document {id_!r}." if one is None else _line(one)
            for id_, one in zip(asked, found, strict=False)
        ]
        return "\n".join(lines + _more(len(asked), "documents"))

    def kb_read(self, chunks: _Chunks) -> str:
        """Read chunks of documents in full, also those before and behind one that a search has found."""
        asked = _list(chunks)
        if not asked:
            return "chunks is a list of DOCUMENT#NUMBER, as kb_query names them."
        places = [_place(one) for one in asked[:MOST_READ]]
        found = iter(self._base.read_chunks([one for one in places if one is not None]))
        parts: list[str] = []
        for name, place in zip(asked, places, strict=False):
            if place is None:
                parts.append(f"{name!r} names no chunk; the form is DOCUMENT#NUMBER, numbers from 0.")
                continue
            one = next(found)
            parts.append(self._absent(place) if one is None else _passage(one))
        return "\n\n".join(parts + _more(len(asked), "chunks"))

    def kb_list(self, page: _Page = 0) -> str:
        """List the documents of the knowledge base, 20 on a page."""
        number = _whole(page)
        if number is None or number < 0:
            return "page is a whole number, from 0."
        total = self._base.totals().documents
        if not total:
            return "The knowledge base holds no documents."
        pages = -(-total // PAGE)
        if number >= pages:
            return f"There is no page {number}; the last one is {pages - 1}."
        found = self._base.documents(offset=number * PAGE, limit=PAGE)
        head = f"{total:,} document{'s' if total > 1 else ''}, page {number} of 0 to {pages - 1}:"
        return "\n".join([head, *map(_line, found)])

    def _absent(self, place: tuple[str, int]) -> str:
        document, chunk = place
        (info,) = self._base.find_documents([document])
        if info is None:
            return f"There is no document {document!r}."
        if not info.searchable:
            return f"The document {document!r} can't be read yet: {info.state}."
        return f"The document {document!r} has no chunk {chunk}; its chunks are 0 to {info.chunks - 1}."


def is_small_talk(query: str) -> bool:
    """Whether a query consists of greetings and thanks alone; a blank one does not."""
    found = [*words(query), *(character for run in CJK_RUN.findall(fold(query)) for character in run)]
    known = word_list("greetings")
    return bool(found) and all(word.replace("\u2019", "'") in known for word in found)


def _small_talk() -> str:
    return "That is small talk, and nothing was searched. Answer it as usual."


def _hits(found: Found) -> str:
    notes = [f"({note[:1].upper()}{note[1:]}.)" for note in found.report.notes]
    if not found:
        return "\n".join(["The search found nothing.", *notes])
    number = len(found)
    head = f"{number} passage{'s' if number > 1 else ''} found, the best first. kb_read gives what stands around one."
    parts = [f"[{hit.source_id}#{hit.chunk}]\n{hit.text}" for hit in found]
    return "\n\n".join([head, *parts, *notes])


def _passage(chunk: StoredChunk) -> str:
    return f"[{chunk.document}#{chunk.chunk}]\n{chunk.text}"


def _line(info: DocumentInfo) -> str:
    if info.state == "ready":
        last = info.chunks - 1
        return f"{info.id}: {info.characters:,} characters, chunk{'s 0 to ' + str(last) if last else ' 0'}"
    what = info.detail or info.state
    return f"{info.id}: {info.state}{': ' + what if info.detail else ''}" + (
        "; what it was before can be searched" if info.searchable else ""
    )


def _place(name: str) -> tuple[str, int] | None:
    document, mark, number = name.strip().strip("[]").rpartition("#")
    if not mark or not document or not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    return document, int(number)


def _more(number: int, what: str) -> list[str]:
    return [f"({number - MOST_READ} more {what} were asked for; ask again.)"] if number > MOST_READ else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _list(value: Any) -> list[str]:
    """What a model may give for a list: one text, too."""
    if isinstance(value, str):
        return [value]
    return [_text(one) for one in cast("Sequence[object]", value)] if isinstance(value, (list, tuple)) else []


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None
