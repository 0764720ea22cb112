"""The loop of a peer in Python: as ``worker.mjs``, which tells the requests and answers.

Imports nothing but the standard library, since it runs in the peers' environments.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

__all__ = ["Answer", "load_tiktoken", "serve"]

Answer = dict[str, Any]


def serve(round_of: Callable[[Answer], tuple[Answer, str]]) -> None:
    """Serve until standard input ends. ``round_of(data)`` gives a round's figures and the prompt's contents."""
    answers = sys.stdout
    data: Answer = {}
    text = ""
    with contextlib.redirect_stdout(sys.stderr):  # standard output belongs to the answers
        for line in sys.stdin:
            request = json.loads(line)
            answer: Answer = {"ok": True}
            try:
                if "load" in request:
                    data = json.loads(Path(request["load"]).read_text("utf-8"))
                elif "show" in request:
                    with Path(request["show"]).open("w", encoding="utf-8", newline="") as file:
                        file.write(text)
                else:
                    text = ""
                    gc.collect()
                    answer, text = round_of(data)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other peers go on
                answer = {"error": f"{type(error).__name__}: {error}"[:300]}
            print(json.dumps(answer), file=answers, flush=True)


def timed(build: Callable[[Answer], Any], render: Callable[[Any, Answer], tuple[int, Any, str]]) -> None:
    """``serve`` with a function that builds and one that gives a prompt's tokens, cutoff and contents."""

    def round_of(data: Answer) -> tuple[Answer, str]:
        start = perf_counter()
        tree = build(data)
        cpu, built = process_time(), perf_counter()
        tokens, cutoff, text = render(tree, data)
        return {
            "build": built - start,
            "render": perf_counter() - built,
            "cpu": process_time() - cpu,
            "tokens": tokens,
            "cutoff": cutoff,
        }, text

    serve(round_of)


def load_tiktoken(path: Path) -> None:
    """Make tiktoken know the encoding that a file holds, so that nothing is fetched.

    The file is written by ``run.py``: name, pattern, special tokens, and the ranks with their bytes in base64.
    """
    import tiktoken
    from tiktoken import registry

    told = json.loads(path.read_text("utf-8"))
    ranks = {base64.b64decode(token): rank for token, rank in told["ranks"]}
    registry.ENCODINGS[told["name"]] = tiktoken.Encoding(
        told["name"], pat_str=told["pattern"], mergeable_ranks=ranks, special_tokens=told["special_tokens"]
    )
