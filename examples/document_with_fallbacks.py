"""A document in full, in part, or by name: the best of three forms that fits.

`fallback` takes its alternatives best first and ranks them by itself. Here a question is asked about Python's
licence: the whole file, else the section with the terms in force, else a note that it was left out.

Prints:

    4,000 tokens: 3,286 are used. The document begins and ends:
      A. HISTORY OF THE SOFTWARE
      PERFORMANCE OF THIS SOFTWARE.
    1,000 tokens: 633 are used. The document begins and ends:
      PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2
      Agreement.
    100 tokens: 50 are used. The document begins and ends:
      (The document, 13,936 characters of Python's licence, didn't fit.)
      (The document, 13,936 characters of Python's licence, didn't fit.)
"""

from __future__ import annotations

from pathlib import Path

from priompt_py import Node, fallback, hr, render, system_message, user_message

LICENCE = Path(__file__).parent / "data" / "PYTHON-LICENSE.txt"


def prompt(question: str = "May I sell a changed copy of Python?") -> Node:
    full = LICENCE.read_text("utf-8")
    return [
        system_message["Answer from the document alone. Say so if it doesn't tell."],
        user_message[
            question,
            hr,
            fallback(name="licence")[
                full,
                terms_in_force(full),
                f"(The document, {len(full):,} characters of Python's licence, didn't fit.)",
            ],
        ],
    ]


def terms_in_force(licence: str) -> str:
    """The section on the PSF's own licence, up to the next heading."""
    start = licence.index("PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2\n")
    return licence[start : licence.index("BEOPEN.COM LICENSE AGREEMENT", start)].strip()


def main() -> None:
    for limit in (4_000, 1_000, 100):
        rendered = render(prompt(), token_limit=limit)
        document = rendered.to_messages()[-1]["content"].partition("-------\n\n")[2]
        print(f"{limit:,} tokens: {rendered.token_count:,} are used. The document begins and ends:")
        print(f"  {document.splitlines()[0]}")
        print(f"  {document.splitlines()[-1]}")


if __name__ == "__main__":
    main()
