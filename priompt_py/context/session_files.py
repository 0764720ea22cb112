"""Long files of a chat, searched by the model itself: small pieces are found, the larger ones around them are read.

A file is cut into *parents* of 1,600 tokens, and those into the children that a search compares. What a model gets is
parents, each once, however many of its children were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, cast

import attrs

from priompt_py.author.checks import got, text, wrong_type
from priompt_py.author.tools import tool_definition
from priompt_py.context.chunking import chunk
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, WrongDoor, run_sync
from priompt_py.context.messages import Attachment, Hit, Message
from priompt_py.context.reading import Parsers, Reader, check_parsers
from priompt_py.context.reports import Found
from priompt_py.context.reranking import RECALL_K
from priompt_py.context.retrieval import BM25Retriever
from priompt_py.context.telling import Teller, said
from priompt_py.model.elements import ToolDefinition
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

__all__ = ["CHILD_OVERLAP", "CHILD_SIZE", "SessionFiles", "session_mode"]

CHILD_SIZE = 448  # tokens
CHILD_OVERLAP = 64
PARENT_SIZE = 1_600
PARENT_CAP = 2_400
"""Tokens that the last parent of a file may have, rather than leaving a short end by itself."""
WHOLE_TOKENS = 7_500
WHOLE_BYTES = 32 << 10
RETURNED = 8
MOST_RETURNED = 12
_SHOWN = 300  # characters of a passage in the answer to a query

_Query = Annotated[str, "What to look for: a question, or the words that the answer holds."]
_Key = Annotated[str, "The FILE_KEY of the file to search; empty for all files."]
_Limit = Annotated[int, "How many passages to give, at most 12."]
_Parents = Annotated[list[str], "Passages as KEY#NUMBER, as query_session_attachment names them, at most 12."]


def session_mode(text: str, *, tokenizer: str | Tokenizer = "o200k_base") -> Literal["auto", "retrieval"]:
    """The mode of an attachment with this text in a chat whose model can search: ``retrieval`` for a long one.

    Long is over 7,500 tokens, and over 32 KiB of UTF-8, where nothing is counted.
    """
    if len(text.encode("utf-8", "replace")) > WHOLE_BYTES:
        return "retrieval"
    return "retrieval" if get_tokenizer(tokenizer).count(text) > WHOLE_TOKENS else "auto"


class SessionFiles:
    """``query_session_attachment`` and ``read_session_attachment_parents`` over the attachments of a chat.

    ``retriever`` finds the children, among the parents as documents; without it a ``BM25Retriever`` with chunks of 448
    tokens, 64 of them shared. A file is read and cut when it is first searched. What is asked wrongly is answered by a
    sentence. Of attachments with one id the first counts; images are not searched.
    """

    def __init__(
        self,
        messages: Iterable[Message | Attachment],
        *,
        retriever: Any = None,
        parsers: Parsers = None,
        tokenizer: str | Tokenizer = "o200k_base",
    ) -> None:
        self._files: dict[str, Attachment] = {}
        for one in messages:
            for attachment in one.attachments if isinstance(one, Message) else (one,):
                if attachment.kind != "image":
                    self._files.setdefault(attachment.id, attachment)
        self._parsers = check_parsers("SessionFiles", parsers)
        self._tokenizer = get_tokenizer(tokenizer)
        if retriever is None:
            retriever = BM25Retriever(chunk_size=CHILD_SIZE, overlap=CHILD_OVERLAP, tokenizer=self._tokenizer)
        if callable(getattr(retriever, "as_retriever", None)) or getattr(retriever, "own_documents", False):
            raise wrong_type(
                "retriever",
                "SessionFiles() needs a retriever that searches the files alone, got a knowledge base; "
                "a knowledge base has tools of its own: tools()",
            )
        if not callable(getattr(retriever, "search", None)):
            raise wrong_type(
                "retriever",
                f"SessionFiles() needs an object with a method search for retriever, got {got(retriever)}",
            )
        self._retriever = retriever
        self._cut: dict[str, list[Attachment]] = {}

    def tools(self) -> list[ToolDefinition]:
        """The definitions of both tools, to be put into a prompt; calls are answered by this object."""
        return [
            tool_definition(self.query_session_attachment),
            tool_definition(self.read_session_attachment_parents),
        ]

    def async_tools(self) -> list[ToolDefinition]:
        """The same for a retriever, loaders and parsers that are async."""
        return [
            tool_definition(self.aquery_session_attachment, name="query_session_attachment"),
            tool_definition(self.aread_session_attachment_parents, name="read_session_attachment_parents"),
        ]

    def query_session_attachment(self, query: _Query, key: _Key = "", limit: _Limit = RETURNED) -> str:
        """Search attached files for passages. read_session_attachment_parents gives what was found in full."""
        return run_sync(
            self._query(SyncDoor("query_session_attachment", "aquery_session_attachment"), query, key, limit)
        )

    async def aquery_session_attachment(self, query: _Query, key: _Key = "", limit: _Limit = RETURNED) -> str:
        """Search attached files for passages. read_session_attachment_parents gives what was found in full."""
        return await self._query(AsyncDoor(), query, key, limit)

    def read_session_attachment_parents(self, parents: _Parents) -> str:
        """Read passages of attached files in full, also those before and behind what was found."""
        door = SyncDoor("read_session_attachment_parents", "aread_session_attachment_parents")
        return run_sync(self._read(door, parents))

    async def aread_session_attachment_parents(self, parents: _Parents) -> str:
        """Read passages of attached files in full, also those before and behind what was found."""
        return await self._read(AsyncDoor(), parents)

    # ------------------------------------------------------------------------------------ the flows

    async def _query(self, door: Door, query: Any, key: Any, limit: Any) -> str:
        if not isinstance(query, str) or not query.strip():
            return "There is nothing to look for: query is a question, or words."
        if key and key not in self._files:
            return self._no_file(str(key))
        try:
            most = min(MOST_RETURNED, max(1, int(limit)))
        except (TypeError, ValueError, OverflowError):
            return "limit is a whole number."
        documents: list[Attachment] = []
        notes: list[str] = []
        for one in [self._files[key]] if key else self._files.values():
            found = await self._parents(door, one)
            if isinstance(found, str):
                notes.append(f"({found})")
            else:
                documents += found
        hits: Sequence[Hit] = []
        if documents:
            try:
                hits = await door.call(
                    "the retriever",
                    self._retriever,
                    "search",
                    text("query", "query", query),
                    documents,
                    RECALL_K,
                )
            except WrongDoor:
                raise
            except Exception as error:  # noqa: BLE001 - told to the model, which can go on without
                return "\n".join([f"The search failed: {said(error)}.", *notes])
        if isinstance(hits, Found):
            notes += [f"({note[:1].upper()}{note[1:]}.)" for note in hits.report.notes]
        threshold = float(getattr(self._retriever, "default_threshold", 0.0))
        best: dict[str, Hit] = {}
        for hit in hits:
            if hit.affinity > threshold or isinstance(hits, Found):
                best.setdefault(hit.source_id, hit)
        return "\n\n".join([*_told(list(best.values())[:most]), *notes])

    async def _read(self, door: Door, parents: Any) -> str:
        asked: list[Any] = [parents] if isinstance(parents, str) else []
        if isinstance(parents, (list, tuple)):
            asked = list(cast("Sequence[Any]", parents))
        if not asked:
            return "parents is a list of KEY#NUMBER, as query_session_attachment names them."
        parts = [await self._one(door, str(name)) for name in asked[:MOST_RETURNED]]
        if len(asked) > MOST_RETURNED:
            parts.append(f"({len(asked) - MOST_RETURNED} more passages were asked for; ask again.)")
        return "\n\n".join(parts)

    async def _one(self, door: Door, name: str) -> str:
        key, mark, number = name.strip().strip("[]").rpartition("#")
        if not mark or not number.isascii() or not number.isdigit() or len(number) > 9:
            return f"{name!r} names no passage; the form is KEY#NUMBER, numbers from 0."
        if key not in self._files:
            return self._no_file(key)
        found = await self._parents(door, self._files[key])
        if isinstance(found, str):
            return found
        index = int(number)
        if index >= len(found):
            return f"The file {key!r} has no passage {index}; its passages are 0 to {len(found) - 1}."
        return f"[{key}#{index}]\n{found[index].text}"

    async def _parents(self, door: Door, attachment: Attachment) -> list[Attachment] | str:
        """The parents of a file, as documents to be searched; or a sentence why there are none."""
        known = self._cut.get(attachment.id)
        if known is not None:
            return known
        content = await Reader(door, Teller(door), self._parsers).read(attachment)
        if content.text is None:
            return f"The file {attachment.name!r} could not be read: {content.detail}."
        texts: list[str] = await door.call("cutting texts", self, "_cut_up", content.text)
        made = [
            Attachment(f"{attachment.id}#{number}", attachment.name, text=one)
            for number, one in enumerate(texts)
        ]
        self._cut[attachment.id] = made
        return made

    def _cut_up(self, text: str) -> list[str]:
        """A text in parents; a short end stays with the one before it."""
        parents = chunk(text, PARENT_SIZE, 0, tokenizer=self._tokenizer)
        if len(parents) > 1:
            before, last = parents[-2:]
            both = text[before.start : last.end]
            tokens = self._tokenizer.count(both)
            if tokens <= PARENT_CAP:
                parents[-2:] = [attrs.evolve(before, text=both, tokens=tokens)]
        return [one.text for one in parents]

    def _no_file(self, key: str) -> str:
        known = ", ".join(self._files) or "none, as no file is attached"
        return f"There is no file {key!r}. The keys are: {known}."


def _told(hits: Sequence[Hit]) -> list[str]:
    if not hits:
        return ["The search found nothing."]
    head = (
        f"{len(hits)} passage{'s' if len(hits) > 1 else ''} found, the best first. "
        "read_session_attachment_parents gives them in full."
    )
    return [head, *(f"[{hit.source_id}] {_shortened(hit.text)}" for hit in hits)]


def _shortened(passage: str) -> str:
    line = " ".join(passage.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
