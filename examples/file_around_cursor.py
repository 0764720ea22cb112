"""A chat about a long file, of which the lines around the cursor are kept.

The file is Python's own `argparse` module, 2,630 lines. Each line stands in a scope whose priority falls with the
distance to the cursor, so whatever the limit is, the prompt holds exactly the lines that fit: those nearest to the
cursor. The instructions, the question and the room for the answer stand in no scope, so they are always in.

The same prompt on the command line, with another limit and another cursor:

    priompt render examples/file_around_cursor.py:prompt --limit 800 --set line=2500

Prints:

"""

from __future__ import annotations

from pathlib import Path

from priompt_py import Node, empty, render, scope, system_message, user_message

FILE = Path(__file__).parent / "data" / "argparse.py.txt"
CURSOR = 1900
QUESTION = "Which exceptions can still leave this method when exit_on_error is false?"


def prompt(line: int = CURSOR, question: str = QUESTION) -> Node:
    lines = FILE.read_text("utf-8").splitlines(keepends=True)
    return [
        system_message["You answer questions about a Python file. Name the lines that you rely on."],
        user_message[
            f"This is argparse.py around the cursor, which is in line {line}:\n\n",
            [scope(prel=-abs(number - line))[f"{number:5}  {text}"] for number, text in enumerate(lines, 1)],
            "\n",
            question,
        ],
        empty(tokens=500),
    ]


def main() -> None:
    whole = render(prompt(), token_limit=1_000_000)
    print(f"The whole file: {whole.token_count:,} tokens.")
    for limit in (8_000, 2_000):
        rendered = render(prompt(), token_limit=limit)
        shown = rendered.to_text().splitlines()
        kept = [line for line in shown if line[:5].strip().isdigit()]
        print(f"\nUnder {limit:,} tokens, {rendered.tokens_reserved} of them for the answer:")
        print(f"{len(kept)} lines are kept, the first and the last of them:")
        print(kept[0])
        print(kept[-1])
        print(f"{rendered.token_count:,} tokens are sent, {rendered.tokens_remaining:,} are left.")


if __name__ == "__main__":
    main()
