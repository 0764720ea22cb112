"""Prunes 7,168 real chats, checks what must hold for each, and writes docs/pruning_figures.md and docs/pruning.svg.

Needs the chats: `pip install chitchat-dataset` (people talking to people, MIT licence, 258,145 messages). Run it at the
root of the checkout: `python -m bench.context.real_chats`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.context.bars import svg
from priompt_py.context import Message, Pass, default_pipeline, limit_messages, prune
from priompt_py.context.messages import Role
from tests.context.properties import (
    accounted,
    halves,
    ids,
    is_subsequence,
    protected_ids,
    wrong_pairs,
)

ROOT = Path(__file__).parents[2]
SETTINGS: Mapping[str, dict[str, Any]] = {
    "max_age=5": {"max_age": 5},
    "max_age=10 (default)": {},
    "max_age=20": {"max_age": 20},
    "max_age=50": {"max_age": 50},
    "no expiry": {"max_age": 100_000},
    "no expiry, ngram=3": {"max_age": 100_000, "ngram": 3},
}
SIZES = (1_000, 10_000, 100_000)


def chats() -> Iterator[list[Message]]:
    """The chats: who speaks first is the user, a turn is a step, each line of a turn a message."""
    spec = find_spec("chitchat_dataset")
    if spec is None or spec.origin is None:
        sys.exit("needs the package chitchat-dataset")
    data = json.loads((Path(spec.origin).parent / "dataset.json").read_text("utf-8"))
    for chat in data.values():
        first = None
        found: list[Message] = []
        for step, turn in enumerate(chat["messages"]):
            for line in turn:
                first = first or line["sender"]
                role: Role = "user" if line["sender"] == first else "assistant"
                found.append(Message(f"m{len(found)}", role, line["text"], step=step))
        yield found


def faults(messages: list[Message], run: Pass) -> list[str]:
    """What doesn't hold for one chat and one setting."""
    result = run(messages)
    found = [*halves(messages, result.messages), *accounted(messages, result)]
    if not is_subsequence(ids(result.messages), ids(messages)):
        found.append("order")
    if not protected_ids(messages, last_turn=True) <= set(ids(result.messages)):
        found.append("protected")
    if run(result.messages).messages != result.messages:
        found.append("not settled, with restored" if result.report.restored else "not settled")
    for most in (0, 4, 20):
        limited = limit_messages(n=most)(messages).messages
        if len(limited) > most + 1 or limited[-1:] != messages[-1:]:
            found.append("limit")
    found += wrong_pairs(default_pipeline((), run)(messages)[0])
    return found


def shares(all_chats: list[list[Message]], run: Pass) -> tuple[dict[str, float], dict[str, int]]:
    """Which part of all messages each stage drops, and the numbers."""
    seen: Counter[str] = Counter()
    for messages in all_chats:
        report = run(messages).report
        seen["all"] += len(messages)
        seen["restored"] += len(report.restored)
        seen["kept"] += report.kept - len(report.restored)
        seen.update(drop.reason for drop in report.dropped)
    return {name: seen[name] / seen["all"] for name in seen if name != "all"}, dict(seen)


def speed(all_chats: list[list[Message]]) -> list[tuple[int, float]]:
    """Seconds of processor time for chats of ``SIZES`` messages, strung together from the real ones."""
    texts = [message.text for messages in all_chats for message in messages]
    found: list[tuple[int, float]] = []
    for size in SIZES:
        row = [Message(f"m{i}", "user" if i % 2 else "assistant", texts[i], step=i) for i in range(size)]
        found.append((size, min(_seconds(prune(), row) for _ in range(2))))
    return found


def _seconds(run: Callable[[list[Message]], object], messages: list[Message]) -> float:
    began = time.process_time()
    run(messages)
    return time.process_time() - began


def page(
    rows: list[tuple[str, dict[str, float], dict[str, int]]], times: list[tuple[int, float]], held: list[str]
) -> str:
    lines = [
        "# Pruning: figures",
        "",
        "What `prune` does to 7,168 real chats between people (the package chitchat-dataset, 258,145 messages, the longest",
        "chat 2,895 of them). Chats between people are full of short lines that only the turn before explains; logs of",
        "agents repeat themselves more. A message of a chat is a line, a step a turn; nothing is pinned, and the last user",
        "message is the question. Made by `python -m bench.context.real_chats`.",
        "",
        "![Share of messages by what became of them](pruning.svg)",
        "",
        "| setting | kept | restored | expired | duplicate | merged |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for label, share, _ in rows:
        cells = " | ".join(
            f"{100 * share.get(name, 0):.2f} %"
            for name in ("kept", "restored", "expired", "duplicate", "merged")
        )
        lines.append(f"| {label} | {cells} |")
    lines += [
        "",
        *held,
        "",
        "## Time",
        "",
        "Processor time of one `prune()` with its defaults, on one long chat:",
        "",
    ]
    lines += ["| messages | seconds | microseconds a message |", "|---:|---:|---:|"]
    lines += [f"| {size:,} | {seconds:.2f} | {1e6 * seconds / size:.0f} |" for size, seconds in times]
    return "\n".join(lines) + "\n"


def main() -> int:
    all_chats = list(chats())
    rows: list[tuple[str, dict[str, float], dict[str, int]]] = []
    for label, options in SETTINGS.items():
        share, numbers = shares(all_chats, prune(**options))
        rows.append((label, share, numbers))
        print(label, numbers)
    broken = Counter(fault for messages in all_chats for fault in faults(messages, prune()))
    print(dict(broken) or "all holds")
    swallowed = broken.pop("not settled, with restored", 0)
    number = sum(map(len, all_chats))
    exception = f" (but for {swallowed} chats where a definition came back)" if swallowed else ""
    held = [
        f"Looked at for each of the {len(all_chats):,} chats ({number:,} messages): what comes out was there, in order; no",
        "protected message is lost; each message that went is in the report once; pruning again changes",
        f"nothing{exception}; limits keep what they say; pairs are valid.",
        "All of it holds." if not broken else f"Faults: {dict(broken)}.",
    ]
    times = speed(all_chats)
    print(times)
    (ROOT / "docs" / "pruning_figures.md").write_text(page(rows, times, held), "utf-8")
    picture = svg("What became of 258,145 messages, by setting", [(label, share) for label, share, _ in rows])
    (ROOT / "docs" / "pruning.svg").write_text(picture, "utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
