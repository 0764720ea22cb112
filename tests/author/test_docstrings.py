"""Docstrings of three styles."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from priompt_py.author.docstrings import parse_docstring
from tests.ids import stable_id

GOOGLE = """
    Look something up.

    The second paragraph: with a colon.

    Args:
        query: What to look for.
        limit (int, optional): How many at most;
            more are cut off.

            And a paragraph.
        *words: Others.
        empty:

    Returns:
        query: not a parameter.

    Text after the sections.
"""

NUMPY = """
    Look something up.

    The second paragraph: with a colon.

    Parameters
    ----------
    query : str
        What to look for.
    limit : int, optional
        How many at most;
        more are cut off.

        And a paragraph.
    first, second
        Two at once.
    *words
        Others.

    Returns
    -------
    query : str
        Not a parameter.
"""

SPHINX = """
    Look something up.

    The second paragraph: with a colon.

    :param query: What to look for.
    :type query: str
    :param int limit: How many at most;
        more are cut off.

        And a paragraph.
    :param words: Others.
    :returns: Not a parameter.
    :raises KeyError: never

    Text after the fields.
"""

TEXT = "Look something up.\n\nThe second paragraph: with a colon."
QUERY, LIMIT = "What to look for.", "How many at most; more are cut off. And a paragraph."


@pytest.mark.parametrize(
    ("docstring", "text", "parameters"),
    [
        (GOOGLE, TEXT + "\n\nText after the sections.", {"query": QUERY, "limit": LIMIT, "words": "Others."}),
        (
            NUMPY,
            TEXT,
            {
                "query": QUERY,
                "limit": LIMIT,
                "first": "Two at once.",
                "second": "Two at once.",
                "words": "Others.",
            },
        ),
        (SPHINX, TEXT + "\n\nText after the fields.", {"query": QUERY, "limit": LIMIT, "words": "Others."}),
        (None, "", {}),
        ("", "", {}),
        ("One line.", "One line.", {}),
        ("    Note: this is text, no section.", "Note: this is text, no section.", {}),
        ("Args is a word here\nand here.", "Args is a word here\nand here.", {}),
        ("Title.\n\nArgs:\n    x: One.\nArguments:\n    y: Two.", "Title.", {"x": "One.", "y": "Two."}),
        ("Title.\n\nAttributes:\n    x: One.\n\nRaises:\n    KeyError: no.", "Title.", {"x": "One."}),
        (
            "\nArgs:\n    url: see https://example.org: it is long\n    data: a: b",
            "",
            {"url": "see https://example.org: it is long", "data": "a: b"},
        ),
        (":param a: One.", "", {"a": "One."}),
        (":param: nothing", "", {}),
        ("Parameters\n---------\nno entry here!\n    text", "", {}),
        ("Title.\n\nExample:\n    x: 1", "Title.", {}),
        ("Títle.\n\nArgs:\n    größe: Wie groß.", "Títle.", {"größe": "Wie groß."}),
    ],
    ids=stable_id,
)
def test_docstrings(docstring: str | None, text: str, parameters: dict[str, str]) -> None:
    docs = parse_docstring(docstring)
    assert docs.text.replace("\n\n\n", "\n\n").strip() == text
    assert docs.parameters == parameters
    indented = docstring and "\n" + textwrap.indent(inspect.cleandoc(docstring), "\t")
    assert parse_docstring(indented).parameters == parameters
