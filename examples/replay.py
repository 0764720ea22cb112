"""A bug from production is a file that replays.

A registered prompt writes the props of each run where `PRIOMPT_DUMP` says. Later, in another process, the file gives
the same prompt again: dates and dataclasses come back as what they were, since the annotations name them.

Prints:

    The run: 2 notes, 38 tokens
    example01.json:
      {
        "question": "What is due?",
        "notes": [{"text": "Pay the rent", "due": "2024-05-01"}, {"text": "Water the fig", "due": null}]
      }
    The replay is the same: True
    With another question: What is late?
"""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from priompt_py import Node, find_prompt, prompt, render, scope, system_message, user_message


@dataclass(frozen=True)
class Note:
    """A note, and the day until which it should be done."""

    text: str
    due: dt.date | None


@prompt(id="notes", token_limit=200)
def about(question: str, *, notes: tuple[Note, ...]) -> Node:
    return [
        system_message["These are the notes:"],
        [user_message[scope(prel=-i)[line(note)]] for i, note in enumerate(notes)],
        user_message[question],
    ]


def line(note: Note) -> str:
    return note.text if note.due is None else f"{note.text}, {note.due:%d %B}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PRIOMPT_DUMP"] = folder
        notes = (Note("Pay the rent", dt.date(2024, 5, 1)), Note("Water the fig", None))
        run = render(about("What is due?", notes=notes), token_limit=200)
        print(f"The run: {len(notes)} notes, {run.token_count} tokens")

        print("example01.json:")
        for text in (Path(folder) / "notes" / "example01.json").read_text("utf-8").splitlines():
            print(f"  {text}")

        registered = find_prompt("notes")
        props = registered.read("example01")
        replay = render(registered.build(props), token_limit=200)
        print(f"The replay is the same: {replay.messages == run.messages}")

        other = render(registered.build({**props, "question": "What is late?"}), token_limit=200)
        print(f"With another question: {other.to_messages()[-1]['content']}")


if __name__ == "__main__":
    main()
