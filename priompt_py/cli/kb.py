"""``priompt kb``: documents in a knowledge base, and what is found there."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from priompt_py.cli.faults import Fault, near
from priompt_py.cli.kb_base import opened, opened_to_look
from priompt_py.cli.options import read_count, traceback_option
from priompt_py.cli.progress import progress_bar
from priompt_py.cli.streams import argument_text, shown, warn, write_result
from priompt_py.face.visible import in_one_line

if TYPE_CHECKING:
    from priompt_py.context.knowledge.base import KnowledgeBase
    from priompt_py.context.knowledge.ingest import AddProgress, AddReport
    from priompt_py.context.knowledge.store import DocumentInfo, StoredChunk
    from priompt_py.context.reports import Found

__all__ = ["kb"]

F = TypeVar("F", bound=Callable[..., Any])

_SOME_FAILED = 1
_PARTS = 1_000  # of a document, that the bar knows


class _Commands(click.Group):
    """A group that says what a command should have been called, and that the commands' options stand behind it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            option = error.option_name
            command = next((name for name, one in self.commands.items() if _takes(one, option)), None)
            if command is None:
                raise
            raise Fault(
                f"{option} stands behind the command: priompt kb {command} {option} …", place="priompt kb"
            ) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands:
            if name.startswith("-"):
                raise click.NoSuchOption(name, ctx=ctx)
            raise Fault(
                f"no command {argument_text(name)!r}{near(name, self.commands)}; "
                f"it is one of {', '.join(sorted(self.commands))}",
                place="priompt kb",
            )
        return super().resolve_command(ctx, args)


def _takes(command: click.Command, option: str) -> bool:
    return any(option in one.opts for one in command.params if isinstance(one, click.Option))


@click.group(
    "kb", cls=_Commands, no_args_is_help=False, short_help="Add documents to a knowledge base, and search it."
)
@traceback_option
def kb() -> None:
    """Add documents to a knowledge base, and search it: a file, or a database of PostgreSQL.

    Without --base the base is the one in PRIOMPT_KB, else knowledge.db in the working folder. A base has vectors if it
    was made with an --embedder: wordllama (small, works offline), or MODEL@URL, a model of a server that speaks OpenAI's
    interface (nomic-embed-text@http://localhost:11434/v1; its key stands in PRIOMPT_EMBEDDER_KEY). PRIOMPT_EMBEDDER
    is asked where --embedder is not given.
    """


def _base_options(command: F) -> F:
    for decorate in (
        traceback_option,
        click.option("--json", "as_json", is_flag=True, help="The result as JSON."),
        click.option("--base", metavar="PLACE", help="The file, or postgresql://…; see priompt kb --help."),
    ):
        command = decorate(command)
    return command


def _embedder_option(command: F) -> F:
    return click.option("--embedder", metavar="NAME", help="wordllama, or MODEL@URL; see priompt kb --help.")(
        command
    )


# ------------------------------------------------------------------------------------------ add


@kb.command("add", short_help="Add files and folders.")
@_base_options
@_embedder_option
@click.option("--chunk-size", metavar="N", help="Tokens of a chunk, in a base that is made now. 512.")
@click.option("--overlap", metavar="N", help="Tokens that chunks share, in a base that is made now. 50.")
@click.option("--tokenizer", metavar="NAME", help="What counts them, in a base that is made now. o200k_base.")
@click.option(
    "--time-limit", metavar="SECONDS", help="The most that a document may take; 0 is no limit. 300."
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def add(
    files: tuple[str, ...],
    base: str | None,
    embedder: str | None,
    chunk_size: str | None,
    overlap: str | None,
    tokenizer: str | None,
    time_limit: str | None,
    *,
    as_json: bool,
) -> None:
    """Add FILEs to the knowledge base, and the files of folders, those in their folders too. What has not changed is
    left as it is; what was broken off goes on where it ended.

    A document is known by its path as it is given. Hidden files, and formats that can't be read, are left out of folders.
    Exit code 1: some could not be added.
    """
    sizes: dict[str, Any] = {
        "chunk_size": None if chunk_size is None else read_count("--chunk-size", chunk_size, "tokens"),
        "overlap": None if overlap is None else read_count("--overlap", overlap, "tokens"),
    }
    seconds = 300 if time_limit is None else read_count("--time-limit", time_limit, "seconds")
    with opened(base, embedder, create=True, tokenizer=tokenizer, **sizes) as found:
        try:
            with progress_bar("adding") as bar:
                report = found.add(
                    files, on_progress=None if bar is None else _teller(bar), time_limit=seconds or None
                )
        except KeyboardInterrupt:
            warn("priompt kb add: what is stored stays; the same command goes on from there")
            raise
        totals = found.totals()
        for one in report.documents:
            if one.status in ("failed", "gone"):
                warn(
                    f"{in_one_line(shown(one.name))}: {one.detail or 'it was deleted, or replaced, meanwhile'}"
                )
        if as_json:
            _write_json({"base": found.place, **report.to_json(), "chunks": totals.chunks})
        else:
            write_result(
                f"{_summary(report)}; {shown(found.place)} now has {_number(totals.documents, 'document')}, "
                f"{_number(totals.chunks, 'chunk')}\n"
            )
    if report.failed:
        raise click.exceptions.Exit(_SOME_FAILED)


def _summary(report: AddReport) -> str:
    """``3 added, 2 unchanged``."""
    counts: dict[str, int] = {}
    for one in report.documents:
        counts[one.status] = counts.get(one.status, 0) + 1
    return ", ".join(f"{number:,} {status}" for status, number in counts.items()) or "nothing to add"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _teller(bar: Callable[[int, int], object]) -> Callable[[AddProgress], object]:
    def tell(progress: AddProgress) -> None:
        done = _PARTS * progress.documents
        if progress.part < 1:
            done += int(_PARTS * progress.part)
        bar(done, _PARTS * (progress.total or 1))

    return tell


# ------------------------------------------------------------------------------------------ search


@kb.command("search", short_help="Find passages.")
@_base_options
@_embedder_option
@click.option("--limit", metavar="N", help="The most passages. 5.")
@click.argument("query", metavar="QUERY")
def search(query: str, base: str | None, embedder: str | None, limit: str | None, *, as_json: bool) -> None:
    """Find passages for QUERY, the best first, each with its document, its chunk's number and how near it is.

    A base with vectors that are by no offline embedder needs its --embedder again; without it the search is by words
    alone.
    """
    number = 5 if limit is None else read_count("--limit", limit, "passages")
    if number < 1:
        raise Fault("--limit needs at least 1 passage")
    with opened(base, embedder, create=False) as found:
        hits = found.search(argument_text(query), limit=number)
        notes = list(hits.report.notes)
        if found.settings.embedder is not None and hits.report.embedding == "unavailable" and query.strip():
            notes.append(
                f"the search was by words alone; with --embedder ({found.settings.embedder}) it is by sense, too"
            )
    for note in notes:
        warn(f"priompt kb search: {note}")
    if as_json:
        _write_json(_hits_as_json(hits))
    elif hits:
        write_result("\n".join(_hit_lines(hits)))
    elif query.strip():
        warn("priompt kb search: nothing was found")


def _hits_as_json(hits: Found) -> dict[str, Any]:
    return {
        "hits": [
            {
                "document": hit.source_id,
                "chunk": hit.chunk,
                "name": hit.source_name,
                "affinity": hit.affinity,
                "rank_score": hit.rank_score,
                "rerank": hit.rerank,
                "text": hit.text,
            }
            for hit in hits
        ],
        "report": hits.report.to_json(),
    }


def _hit_lines(hits: Found) -> Generator[str]:
    for hit in hits:
        yield f"{in_one_line(hit.source_id)}#{hit.chunk}  {hit.affinity:.3f}"
        yield from (f"    {line}".rstrip() for line in hit.text.split("\n"))
        yield ""


# ------------------------------------------------------------------------------------------ list, show, delete


@kb.command("list", short_help="List the documents.")
@_base_options
def list_(base: str | None, *, as_json: bool) -> None:
    """List the documents of the knowledge base: their ids, chunks and characters, and what is wrong with them."""
    with opened_to_look(base) as found:
        documents = found.documents()
        if as_json:
            _write_json({"base": found.place, "documents": [_info_as_json(one) for one in documents]})
        elif documents:
            write_result("".join(f"{line}\n" for line in _table(documents)))
        else:
            warn(f"{shown(found.place)}: no documents yet; priompt kb add FILE adds some")


def _table(documents: list[DocumentInfo]) -> Generator[str]:
    rows = [(one, f"{one.chunks:,}", f"{one.characters:,}") for one in documents]
    chunks = max(len("chunks"), *(len(row[1]) for row in rows))
    characters = max(len("characters"), *(len(row[2]) for row in rows))
    yield f"{'chunks':>{chunks}}  {'characters':>{characters}}  document"
    for one, number, size in rows:
        state = "" if one.state == "ready" else f"  ({one.state}{': ' + one.detail if one.detail else ''})"
        yield f"{number:>{chunks}}  {size:>{characters}}  {in_one_line(one.id)}{state}"


@kb.command("show", short_help="Show a document, or a chunk of it.")
@_base_options
@click.argument("document", metavar="DOCUMENT[#CHUNK]")
def show(document: str, base: str | None, *, as_json: bool) -> None:
    """Show the text of DOCUMENT, or with #NUMBER one of its chunks, as `priompt kb search` names it."""
    asked = argument_text(document)
    with opened_to_look(base) as found:
        (info,) = found.find_documents([asked])
        if info is not None and info.searchable:
            text = found.read(asked)
            if as_json:
                _write_json({**_info_as_json(info), "text": text})
            else:
                write_result(f"{text}\n")
            return
        one = _chunk(found, asked)
        if one is not None:
            if as_json:
                said = {"document": one.document, "chunk": one.chunk, "start": one.start, "text": one.text}
                _write_json(said)
            else:
                write_result(f"{one.text}\n")
            return
        if info is not None:
            raise Fault(f"{info.state}: {info.detail or 'it can not be read yet'}", place=asked)
        raise Fault(_not_there(found, asked), place=in_one_line(asked))


def _not_there(found: KnowledgeBase, asked: str) -> str:
    name, mark, _ = asked.rpartition("#")
    (info,) = found.find_documents([name]) if mark else (None,)
    if info is not None and info.searchable:
        last = "" if info.chunks == 1 else f" to #{info.chunks - 1}"
        return f"no such chunk; the document has {_number(info.chunks, 'chunk')}, #0{last}"
    ids = [in_one_line(known.id) for known in found.documents()]
    return f"no such document{near(in_one_line(name if mark else asked), ids)}"


def _chunk(found: KnowledgeBase, asked: str) -> StoredChunk | None:
    document, mark, number = asked.rpartition("#")
    if not mark or not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    (one,) = found.read_chunks([(document, int(number))])
    return one


@kb.command("delete", short_help="Delete documents.")
@_base_options
@click.argument("documents", metavar="DOCUMENT...", nargs=-1, required=True)
def delete(documents: tuple[str, ...], base: str | None, *, as_json: bool) -> None:
    """Delete DOCUMENTs, by the ids that `priompt kb list` shows. Exit code 1: one of them wasn't there."""
    ids = list(dict.fromkeys(argument_text(one) for one in documents))
    with opened_to_look(base) as found:
        missing = [id_ for id_, info in zip(ids, found.find_documents(ids), strict=True) if info is None]
        number = found.delete(ids)
        place = shown(found.place)
    for id_ in missing:
        warn(f"{in_one_line(id_)}: no such document")
    if as_json:
        _write_json({"deleted": number, "missing": missing})
    else:
        write_result(f"{number:,} deleted from {place}\n")
    if missing:
        raise click.exceptions.Exit(_SOME_FAILED)


def _info_as_json(info: DocumentInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "name": info.name,
        "state": info.state,
        "searchable": info.searchable,
        "chunks": info.chunks,
        "stored": info.stored,
        "characters": info.characters,
        "detail": info.detail,
    }


def _write_json(value: Any) -> None:
    write_result(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
