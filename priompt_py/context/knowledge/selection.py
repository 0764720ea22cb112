"""Which of a query's stems choose the candidates of a search by words: the rarest, since common ones say little and
cost much."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ENOUGH", "MOST", "WORK", "choosing_stems"]

ENOUGH = 2_000
"""Places where chosen stems stand, that are enough to choose 200 candidates from."""
MOST = 40_000
"""Places that a database may rank for one search. SQLite takes about 1.2 microseconds of each (100,000 chunks)."""
WORK = 2_000_000
"""Places times stems: SQLite looks for each stem in each of them, which takes about 0.07 microseconds."""


def choosing_stems(
    frequencies: Mapping[str, int], *, enough: int = ENOUGH, most: int = MOST, work: int = WORK
) -> list[str]:
    """The stems by which a store chooses its candidates, the rarest first (equal ones by code point).

    ``frequencies`` says how many chunks hold each. All stems that any chunk holds, as long as they stand in no more than
    ``most`` chunks together, and places times stems are no more than ``work`` (which a text of thousands of words would
    be, given as a question): up to there nothing is left out. Beyond, a stem is added only while there are not ``enough``. What is left out still counts in the scores of what the others find.
    """
    chosen: list[str] = []
    places = 0
    for stem, count in sorted(frequencies.items(), key=lambda pair: (pair[1], pair[0])):
        if not count:
            continue
        too_many = places + count > most or (places + count) * (len(chosen) + 1) > work
        if places >= enough and too_many:
            break
        chosen.append(stem)
        places += count
    return chosen
