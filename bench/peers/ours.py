"""This package as one of the peers, and the floor. ``-m bench.peers.ours``."""

from __future__ import annotations

import gc
from time import process_time

from bench.floor import floor
from bench.peers.protocol import Answer, serve
from bench.shapes import ENCODING, Data, build, excerpt_of, shown_text
from bench.timing import clock
from priompt_py import render

__all__ = ["data_from", "round_of"]


def data_from(told: Answer) -> Data:
    """The data of a shape from its JSON form."""
    return Data(**told)


def round_of(told: Answer) -> tuple[Answer, str]:
    """Build and render, then the floor of the same prompt; for lines also the same text as one ``excerpt``."""
    data = data_from(told)
    built, tree = clock(build, data)
    start = process_time()
    taken, rendered = clock(render, tree, token_limit=data.limit, tokenizer=ENCODING)
    cpu = process_time() - start
    text = shown_text(rendered)
    gc.collect()
    start = process_time()
    least, _ = clock(floor, tree, text)
    floor_cpu = process_time() - start
    answer: Answer = {
        "build": built,
        "render": taken,
        "cpu": cpu,
        "floor": least,
        "floor_cpu": floor_cpu,
        "tokens": rendered.token_count,
        "cutoff": rendered.cutoff,
    }
    del tree, rendered
    if data.kind == "lines":
        answer |= excerpt_round(data, text)
    return answer, text


def excerpt_round(data: Data, text: str) -> Answer:
    """Build and render together as one ``excerpt``, and whether it shows the same text."""
    make = excerpt_of(data)
    gc.collect()
    taken, given = clock(lambda: render(make(), token_limit=data.limit, tokenizer=ENCODING))
    return {"excerpt": taken, "excerpt_same": shown_text(given) == text}


if __name__ == "__main__":
    serve(round_of)
