"""The goals of time and memory: against the floor, at scale, and when a prompt is rendered again."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from statistics import median

from bench.floor import floor
from bench.goal import QUICK, Goal, at_most
from bench.shapes import ENCODING, SHAPES, Data, Shape, build, data_of, find, shown_text
from bench.timing import Times, processor, ratio, rounds_of, times_of
from priompt_py import Rendered, TokenCache, compile_prompt, render

__all__ = ["against_the_floor", "floor_times", "rendered_again", "scale"]

MILLION = 1_000_000
SECONDS_A_MILLION = 1.5
NEW_LIMITS = (8_191, 7_000, 9_000, 6_000, 8_000)


# ------------------------------------------------------------------------------------------ the floor


def floor_times(data: Data, rounds: int) -> tuple[dict[str, Times], Rendered]:
    """Build, render and floor by turns, and the last prompt; each round has a fresh tree.

    Nothing is collected between building and rendering: the render meets the heap as it would in a program.
    """
    rows: list[dict[str, float]] = []
    last: list[Rendered] = []
    for number in rounds_of(rounds):
        last.clear()
        gc.collect()
        built, tree = processor(build, data)
        taken, rendered = processor(render, tree, token_limit=data.limit, tokenizer=ENCODING)
        last.append(rendered)
        text = shown_text(rendered)
        gc.collect()
        least, _ = processor(floor, tree, text)
        if number:
            rows.append({"build": built, "render": taken, "floor": least})
        del tree, rendered
    return times_of(rows), last[0]


def against_the_floor(rounds: int, *, quick: bool) -> Iterator[Goal]:
    """At most 2.5 times the floor from 10,000 scopes on, 4 times on smaller shapes; a million in 1.5 s."""
    for shape in QUICK if quick else SHAPES:
        times, _ = floor_times(data_of(shape), rounds)
        note = f"render {times['render']}, floor {times['floor']}, build {times['build']}"
        bound = 2.5 if shape.scopes >= 10_000 else 4.0
        yield at_most(f"{shape.name}: by the floor", ratio(times["render"], times["floor"]), bound, note=note)
        if shape.scopes == MILLION:
            yield at_most(f"{shape.name}: render", times["render"].median, SECONDS_A_MILLION, unit="s")


# ------------------------------------------------------------------------------------------ scale


def scale(rounds: int, *, quick: bool) -> Iterator[Goal]:
    """Compile time per scope stays level while the tree grows; memory stays within three times the tree."""
    sizes = (1_000, 10_000) if quick else (1_000, 10_000, 100_000, MILLION)
    per_scope: dict[int, list[float]] = {size: [] for size in sizes}
    datas = {size: data_of(Shape("lines", size, 8_192)) for size in sizes}
    for number in range(rounds + 1):
        for size in sizes:
            gc.collect()
            tree = build(datas[size])
            often = max(1, 50_000 // size)
            taken = 0.0
            for _ in range(often):
                taken += processor(compile_prompt, tree)[0]
            del tree
            if number:
                per_scope[size].append(1e6 * taken / often / size)
    medians = {size: median(taken) for size, taken in per_scope.items()}
    note = "µs a scope: " + ", ".join(f"{size:,}: {taken:.2f}" for size, taken in medians.items())
    growth = max(medians.values()) / min(medians.values())
    yield at_most("compile time per scope, the most by the least", growth, 1.5, note=note)
    shape = QUICK[0] if quick else SHAPES[-1]
    tree_bytes, peak = memory(data_of(shape))
    note = f"tree {tree_bytes / 1e6:,.0f} MB, and {(peak - tree_bytes) / 1e6:,.0f} MB at most besides"
    yield at_most(f"{shape.name}: memory, by the tree", peak / tree_bytes, 3, note=note, timed=False)


def memory(data: Data) -> tuple[int, int]:
    """Bytes of a tree without its texts, and of all that Python holds at the worst moment of its render."""
    render("loads the vocabulary", token_limit=100, tokenizer=ENCODING)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tree = build(data)
        tree_bytes = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.reset_peak()
        render(tree, token_limit=data.limit, tokenizer=ENCODING)
        return tree_bytes, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------ again


def rendered_again(rounds: int, *, quick: bool) -> Iterator[Goal]:
    """A compiled program at new limits; a chat that has grown by one turn, with a shared cache."""
    program_shape = QUICK[0] if quick else find("lines", 10_000, 8_192)
    data = data_of(program_shape)
    taken: list[float] = []
    for number in range(max(rounds, len(NEW_LIMITS))):
        limit = data.limit * NEW_LIMITS[number % len(NEW_LIMITS)] // 8_192
        program = compile_prompt(build(data))
        program.render(token_limit=data.limit, tokenizer=ENCODING)
        gc.collect()
        taken.append(1e3 * processor(program.render, token_limit=limit, tokenizer=ENCODING)[0])
    note = f"{min(taken):.2f} to {max(taken):.2f} ms"
    yield at_most(f"{program_shape.name}: compiled, at a new limit", median(taken), 5, unit="ms", note=note)
    for limit in (16_000, 200_000):
        chat = Shape("chat", 60 if quick else 1_000, limit // 20 if quick else limit)
        times = new_turn(chat, rounds)
        note = f"first {times['first']}, with one turn more {times['next']}"
        yield at_most(f"{chat.name}: a new turn", ratio(times["next"], times["first"]), 0.2, note=note)


def new_turn(shape: Shape, rounds: int) -> dict[str, Times]:
    """The first render of a chat with a new cache, and the one after another turn; building is not counted."""
    longer = data_of(shape._replace(scopes=shape.scopes + 1))
    data = longer._replace(messages=longer.messages[:-1])
    rows: list[dict[str, float]] = []
    for number in rounds_of(rounds):
        cache, row = TokenCache(), dict[str, float]()
        for name, part in (("first", data), ("next", longer)):
            gc.collect()
            tree = build(part)
            row[name], _ = processor(render, tree, token_limit=shape.limit, tokenizer=ENCODING, cache=cache)
        if number:
            rows.append(row)
    return times_of(rows)
