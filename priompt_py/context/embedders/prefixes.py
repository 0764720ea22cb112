"""What models want in front of a text, so that questions and passages get vectors of one kind.

Models that were trained with such words find worse without them, and no endpoint adds them. From the models' own cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from priompt_py.author.checks import got, text, wrong_type, wrong_value
from priompt_py.context.embedders.vectors import Kind

__all__ = ["PREFIXES", "Prefixes", "prefixes_for", "prefixes_of"]

Prefixes: TypeAlias = Mapping[Kind, str]

_SEARCHING = "Represent this sentence for searching relevant passages: "
PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("multilingual-e5-large-instruct", "", ""),  # takes a task of the user's own
    ("e5-mistral", "", ""),  # as above
    ("e5-", "query: ", "passage: "),
    ("mxbai-embed", _SEARCHING, ""),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed2", "query: ", ""),  # as Ollama calls it
    ("snowflake-arctic-embed", _SEARCHING, ""),
    ("bge-large-en", _SEARCHING, ""),
    ("bge-base-en", _SEARCHING, ""),
    ("bge-small-en", _SEARCHING, ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
"""A part of the model's name (lower case), before a query, before a passage; the first that fits counts."""


def prefixes_of(model: str) -> Prefixes:
    """The prefixes that ``model`` was trained with; empty ones for a model that isn't known."""
    name = model.lower()
    for part, query, passage in PREFIXES:
        if part in name:
            return {"query": query, "passage": passage}
    return {"query": "", "passage": ""}


def prefixes_for(tag: str, model: str, given: Prefixes | None) -> Prefixes:
    """``given``, checked and with empty texts for what it leaves out; for None those of ``model``."""
    if given is None:
        return prefixes_of(model)
    if not isinstance(given, Mapping):
        raise wrong_type("prefixes", f"{tag}() needs a mapping for prefixes, got prefixes={got(given)}")
    odd = [key for key in given if key not in ("query", "passage")]
    if odd:
        raise wrong_value("prefixes", f"{tag}() takes prefixes for query and passage, got one for {odd[0]!r}")
    query, passage = given.get("query", ""), given.get("passage", "")
    return {
        "query": text(tag, "prefixes['query']", query),
        "passage": text(tag, "prefixes['passage']", passage),
    }
