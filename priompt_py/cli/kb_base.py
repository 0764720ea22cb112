"""The knowledge base that the options of ``priompt kb`` name, and its embedder."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from priompt_py.cli.faults import Fault
from priompt_py.cli.streams import argument_text, shown
from priompt_py.errors import ArgumentValueError, EmbedderError, KnowledgeBaseError, PromptError

if TYPE_CHECKING:
    from priompt_py.context.knowledge.base import KnowledgeBase

__all__ = ["opened", "opened_to_look"]

_BASE = "knowledge.db"
_OFFLINE = "wordllama"


def opened_to_look(base: str | None) -> AbstractContextManager[KnowledgeBase]:
    """The base that ``--base`` says, where no embedder is asked, whatever the environment names. Raises Fault."""
    return opened(base, None, create=False, vectors=False)


@contextmanager
def opened(
    base: str | None, embedder: str | None, *, create: bool, vectors: bool = True, **options: Any
) -> Generator[KnowledgeBase]:
    """The base that the options say, to be closed. Raises Fault."""
    from priompt_py.context.knowledge.base import KnowledgeBase

    place = base or os.environ.get("PRIOMPT_KB") or _BASE
    wanted = (embedder or os.environ.get("PRIOMPT_EMBEDDER") or None) if vectors else None
    try:
        with KnowledgeBase.open(
            place, None if wanted is None else _embedder(wanted), create=create, **options
        ) as found:
            offline = _offline(found.settings.embedder) if vectors and wanted is None else None
            if offline is None:
                yield found
                return
        with KnowledgeBase.open(place, offline, create=create, **options) as found:
            yield found
    except ArgumentValueError as error:
        said = str(error).partition("() ")[2] or str(error)
        named = f"--{error.argument.replace('_', '-')}: " if error.argument in options else ""
        raise Fault(f"{named}{said}") from error
    except EmbedderError as error:  # which was asked how many numbers its vectors have
        raise Fault(f"--embedder: {error}") from error
    except KnowledgeBaseError as error:
        hint = "; `priompt kb add FILE` makes one" if error.reason == "missing" else ""
        detail = error.detail.partition(";")[0] if hint else error.detail
        raise Fault(f"{detail}{hint}", place=shown(error.place)) from error


def _offline(name: str | None) -> Any:
    """The embedder that a base was made with, where that needs nothing but its package."""
    if name is None or not name.startswith(_OFFLINE):
        return None
    from priompt_py.context.embedders.offline import WordLlamaEmbedder

    known = [one for one in map(_offline_of, (256, 128, 64)) if one.name == name]
    return known[0] if known and isinstance(known[0], WordLlamaEmbedder) else None


def _offline_of(dim: int) -> Any:
    from priompt_py.context.embedders.offline import WordLlamaEmbedder

    return WordLlamaEmbedder(dim=dim)


def _embedder(given: str) -> Any:
    """The embedder that ``--embedder`` names. Raises Fault."""
    if given == _OFFLINE:
        if find_spec(_OFFLINE) is None:  # said here, before a base is made that would want its vectors
            raise Fault(f"--embedder {_OFFLINE}: it needs a package: pip install 'priompt-py[embeddings]'")
        return _offline_of(256)
    model, mark, rest = given.partition("@http")
    if not mark or not model:
        raise Fault(
            f"--embedder needs {_OFFLINE}, or MODEL@URL (http://… or https://…), got {argument_text(given)!r}"
        )
    from priompt_py.context.embedders.endpoint import EndpointEmbedder

    try:
        return EndpointEmbedder(
            "http" + rest, argument_text(model), api_key=os.environ.get("PRIOMPT_EMBEDDER_KEY") or None
        )
    except PromptError as error:
        raise Fault(f"--embedder: {str(error).partition('() ')[2] or error}") from error
