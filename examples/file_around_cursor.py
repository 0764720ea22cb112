"""A chat about a long file, of which the lines around the cursor are kept.

The file is Python's own `argparse` module, 2,630 lines. Each line stands in a scope whose priority falls with the
distance to the cursor, so whatever the limit is, the prompt holds exactly the lines that fit: those nearest to the
cursor. The instructions, the question and the room for the answer stand in no scope, so they are always in.

The same prompt on the command line, with another limit and another cursor:

    priompt render examples/file_around_cursor.py:prompt --limit 800 --set line=2500

Prints:

    Under 30,000 tokens 2,630 lines are kept, line 1 to line 2630: 28,243 tokens, and 500 for the answer.
    Under 8,000 tokens 675 lines are kept, line 1563 to line 2237: 7,490 tokens, and 500 for the answer.
    Under 2,000 tokens 131 lines are kept, line 1835 to line 1965: 1,496 tokens, and 500 for the answer.

    The last one, shortened:

    system:
    You answer questions about a Python file. Name the lines that you rely on.
    user:
    This is argparse.py around the cursor, which is in line 1900:

     1835              positionals = self._get_positional_actions()
     1836              groups = self._mutually_exclusive_groups
     1837              formatter.add_usage(self.usage, positionals, groups, '')
    ...
     1963
     1964              # error if this argument is not allowed with other previously
     1965              # seen arguments, assuming that actions that use the default

    Which exceptions can still leave this method when exit_on_error is false?
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
            [
                scope(prel=-abs(number - line), name=f"line {number}")[f"{number:5}  {text}"]
                for number, text in enumerate(lines, 1)
            ],
            "\n",
            question,
        ],
        empty(tokens=500),
    ]


def main() -> None:
    for limit in (30_000, 8_000, 2_000):
        rendered = render(prompt(), token_limit=limit)
        kept = [decision.label for decision in rendered.decisions if decision.label and decision.included]
        print(f"Under {limit:,} tokens {len(kept):,} lines are kept, {kept[0]} to {kept[-1]}: ", end="")
        print(f"{rendered.token_count:,} tokens, and {rendered.tokens_reserved} for the answer.")
    print("\nThe last one, shortened:\n")
    for message in render(prompt(), token_limit=2_000).messages or ():
        lines = message.text.splitlines()
        print(f"{message.role}:")
        print("\n".join(lines if len(lines) < 9 else [*lines[:5], "...", *lines[-5:]]))


if __name__ == "__main__":
    main()
