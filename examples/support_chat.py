"""A support chat of 400 turns with three files, under limits from 2,000 to 64,000 tokens.

A receipt is short and fits everywhere. A log of 2,500 lines is shown in full, in its first lines, or by name. A manual
is searched: what was found for the question stands before it, as much as fits. The turns take what is left, the newest
first. One call of `assemble` makes the tree of it, and each limit renders the same tree. support_chat.priompt is the
same prompt as a template; bench/context/support_chat.py draws what it prints.

Prints:

     2,000:  1,496 tokens,  26 turns, 3 passages, receipt full, log placeholder
     4,000:  3,483 tokens,  62 turns, 3 passages, receipt full, log preview
     8,000:  7,500 tokens, 212 turns, 3 passages, receipt full, log preview
    16,000: 12,490 tokens, 400 turns, 3 passages, receipt full, log preview
    32,000: 12,490 tokens, 400 turns, 3 passages, receipt full, log preview
    64,000: 36,441 tokens, 400 turns, 3 passages, receipt full, log full
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from priompt_py import Node, Rendered, render, turn
from priompt_py.context import (
    Assembly,
    Attachment,
    AttachmentOptions,
    Content,
    Hit,
    Message,
    assemble,
    citation_ladder,
    forms_of,
)

LIMITS = (2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
QUESTION = "The orange light blinks since the update. What does the manual say, and what is in my log?"

PLACES = [
    "kitchen",
    "cellar",
    "attic",
    "garage",
    "hall",
    "office",
    "nursery",
    "balcony",
    "workshop",
    "bathroom",
]
PARTS = [
    "antenna",
    "cable",
    "splitter",
    "repeater",
    "socket",
    "power supply",
    "fuse",
    "switch",
    "wall box",
    "front light",
]
STEPS = (
    "unplug the {part} in the {place}, wait {n} seconds and plug it in again",
    "press the button beside the {part} for {n} seconds",
    "move the router {n} steps away from the {part}",
    "open the page 192.168.1.{n} and look under the tab for the {part}",
)
SEEN = (
    "In the {place} the {part} gets warm after {n} minutes.",
    "The connection in the {place} is gone {n} times a day.",
    "I did that; now the {part} hums, and the {place} has {n} bars.",
    "The {part} that you sent on the {n}th fits the one in the {place}.",
)


def dice_of(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - data for the example, the same on every run


def turns(number: int = 400) -> list[Message]:
    """Turns of a customer and an assistant, the same on every run."""
    dice = dice_of(7)
    found: list[Message] = []
    for i in range(number):
        words = {"part": dice.choice(PARTS), "place": dice.choice(PLACES), "n": dice.randint(2, 28)}
        if i % 2 == 0:
            said = f"{dice.choice(SEEN).format(**words)} {dice.choice(('What now?', 'Is that right?', 'And then?'))}"
        else:
            said = (
                f"Thanks for looking. Please {dice.choice(STEPS).format(**words)}; then tell me what you see."
            )
        found.append(Message(f"m{i}", "user" if i % 2 == 0 else "assistant", said))
    return found


def receipt() -> str:
    return (
        "RECEIPT 2026-0417\n1 router, white, 89.00 EUR\n1 repeater, 39.00 EUR\n"
        "Paid by card. Returns within 30 days, in the box that it came in; the guarantee runs for 24 months.\n"
    )


def log() -> str:
    dice = dice_of(11)
    lines: list[str] = []
    for minute in range(2_500):
        event = dice.choice(
            ("dhcp lease renewed", "wifi client joined", "wifi client left", "dns query slow")
        )
        if minute % 97 == 0:
            event = "firmware check failed: error 51"
        lines.append(f"{minute // 60:02}:{minute % 60:02} {event} ({dice.choice(PLACES)})\n")
    return "".join(lines)


def manual() -> str:
    dice = dice_of(13)
    sections: list[str] = []
    for number in range(1, 121):
        part, place = dice.choice(PARTS), dice.choice(PLACES)
        steps = " ".join(
            f"{dice.choice(STEPS).format(part=part, place=place, n=dice.randint(2, 28)).capitalize()}."
            for _ in range(8)
        )
        sections.append(f"## {number} The {part} in the {place}\n\n{steps}\n")
    sections[77] = (
        "## 78 The orange light\n\nThe light is orange while the router starts. If it blinks orange after an update, "
        "the update is not complete: leave the router on for 20 minutes, then press Reset for 5 seconds. "
        "Error 51 in the log means that the file of the update is damaged; load it again.\n"
    )
    return "\n".join(sections)


class Sections:
    """A retriever in its simplest form: sections by how many of the question's words they hold."""

    default_threshold = 0.1

    def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
        asked = words_of(query)
        hits: list[Hit] = []
        for document in documents:
            for number, section in enumerate((document.text or "").split("\n## ")):
                if len(section) < 2_000:
                    affinity = len(asked & words_of(section)) / len(asked)
                    hits.append(Hit(section.strip(), affinity, document.id, number))
        return sorted(hits, key=lambda hit: (-hit.affinity, hit.chunk))[:limit]


def words_of(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def conversation() -> list[Message]:
    """The chat, with its files where they came in."""
    files = {
        2: Attachment("receipt", "receipt.txt", text=receipt()),
        120: Attachment("log", "router.log", text=log()),
        300: Attachment("manual", "manual.md", text=manual(), mode="retrieval", index_status="ready"),
    }
    found = [
        Message(
            "rules", "system", "You help customers of a shop for routers. Answer briefly, and name sources."
        )
    ]
    for i, one in enumerate(turns()):
        attached = [files[i]] if i in files else []
        found.append(Message(one.id, one.role, one.parts, attachments=attached))
    return [*found, Message("question", "user", QUESTION)]


def assembled() -> Assembly:
    return assemble(conversation(), window=128_000, retriever=Sections(), output_reserve=500)


def prompt() -> Node:
    return assembled().node


def props() -> dict[str, Any]:
    """What the template takes: the turns with the forms of their files, and what was found."""
    rules, *chat, question = conversation()
    rows: list[dict[str, Any]] = []
    for i, one in enumerate(chat, 1):
        files = [
            {
                "key": file.id,
                "full_at": turn(i) - 10_000_000,
                "preview_at": -1_000 + i / 2**11,
                "full": shown.full,
                "preview": shown.preview,
                "placeholder": shown.placeholder,
                "preview_limit": shown.preview_limit,
            }
            for file in one.attachments
            for shown in [forms_of(Content(file, file.text), 1, AttachmentOptions())]
        ]
        rows.append({"key": one.id, "role": one.role, "text": one.text, "files": files})
    passages = citation_ladder(assembled().hits)
    return {"rules": rules.text, "turns": rows, "passages": passages, "question": question.text}


def forms(rendered: Rendered) -> dict[str, str]:
    """In which form each file is in the prompt."""
    found: dict[str, str] = {}
    for one in rendered.decisions:
        name = re.search(r"first\[name=(\w+)\]", one.path)
        if name and one.included and one.label in ("full", "preview", "placeholder"):
            found[name[1]] = one.label
    return found


def main() -> None:
    assembly = assembled()
    for limit in LIMITS:
        rendered = render(assembly.node, token_limit=limit)
        shown = forms(rendered)
        kept = sum(1 for one in rendered.decisions if one.included and re.fullmatch(r"m\d+", one.label or ""))
        print(
            f"{limit:>6,}: {rendered.token_count:>6,} tokens, {kept:>3} turns, {len(assembly.cited(rendered))} passages, "
            f"receipt {shown['receipt']}, log {shown['log']}"
        )


if __name__ == "__main__":
    main()
