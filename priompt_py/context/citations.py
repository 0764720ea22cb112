"""Hits of a search in a prompt, as a ladder: the worst ranked goes first, and the numbers stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from priompt_py.author.tags import first, scope
from priompt_py.context.messages import Hit
from priompt_py.context.wording import WORDING, Wording
from priompt_py.model.elements import Node, Number

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered

__all__ = ["CITATIONS", "citation_ladder", "cited", "hit_ladder"]

CITATIONS = -100
"""Where the best hit stands: above previews of files and all history, below what is required."""


def hit_ladder(
    hits: Sequence[Node],
    *,
    before: Node = None,
    after: Node = None,
    left_out: Node,
    at: Number = CITATIONS,
    key: str = "citations",
) -> Node:
    """Nodes, the best first, as many of them as fit, between ``before`` and ``after``; else ``left_out``.

    The first stands with what is before and after at ``prel=at``, each further one 1 lower, inside the one before, so
    that none is in without those before it. Each is a scope with the key ``hit N``, from 1.
    """
    nested: Node = None
    for number in range(len(hits), 0, -1):
        nested = scope(prel=0 if number == 1 else -1, key=f"hit {number}")[hits[number - 1], nested]
    return first(name=key)[
        scope(prel=at, key="hits")[before, nested, after] if hits else None,
        scope(prel=0, key="hits left out")[left_out],
    ]


def citation_ladder(
    hits: Sequence[Hit], *, at: Number = CITATIONS, key: str = "citations", wording: Wording = WORDING
) -> Node:
    """Hits, the best first, as a :func:`hit_ladder` with our sentences.

    Where not even the first fits, a note stays that says how many were found; where there is none, the notice that
    nothing was found.
    """
    left_out = wording.hits_left_out.format(count=len(hits)) if hits else wording.no_hits
    return hit_ladder(
        [f'Citation {number}: "{hit.text}"\n\n' for number, hit in enumerate(hits, 1)],
        before=f"{wording.hits_intro}\n\n",
        after=f"{wording.hits_use}\n\n",
        left_out=f"{left_out}\n\n",
        at=at,
        key=key,
    )


def cited(rendered: Rendered, hits: Sequence[Hit], *, key: str = "citations") -> list[Hit]:
    """The hits of a :func:`citation_ladder` that are in a render, the first being citation 1."""
    found = {
        decision.label
        for decision in rendered.decisions
        if decision.included and f"[name={key}]" in decision.path and decision.kind == "scope"
    }
    return [hit for number, hit in enumerate(hits, 1) if f"hit {number}" in found]
