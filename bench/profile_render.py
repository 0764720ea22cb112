"""Where the time of a render goes: cProfile over a few renders of one shape.

    python -m bench.profile_render firsts          every shape whose name holds the words, 20 lines each
    python -m bench.profile_render "chat 10,000" --lines 30

A profile makes small functions look slower than they are; compare shares, and measure with ``bench.goals``.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys

from bench.floor import tokenise
from bench.shapes import ENCODING, SHAPES, build, data_of
from priompt_py import render

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Profile and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile_render", description="Profile renders.")
    parser.add_argument("name", help="part of a shape's name")
    parser.add_argument("--lines", type=int, default=20, help="functions to show (20)")
    parser.add_argument("--rounds", type=int, default=5, help="renders (5)")
    options = parser.parse_args(arguments)
    tokenise("loads the vocabulary")
    for shape in SHAPES:
        if options.name not in shape.name:
            continue
        data = data_of(shape)
        trees = [build(data) for _ in range(options.rounds)]
        profile = cProfile.Profile()
        for tree in trees:
            profile.runcall(render, tree, token_limit=data.limit, tokenizer=ENCODING)
        print(f"{shape.name}: {options.rounds} renders")
        pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(options.lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
