"""What a limit cut away, at which limit it would come back, and what a change costs the prefix cache.

Prints:

    Under 60 tokens the cutoff is 5: 41 used, 10 reserved, 9 free.
      in   manual     priority 5, 13 tokens
      out  log        priority 3, 12 tokens, below_cutoff
      log comes in at a limit of 62.
    By level: 39, 51, 62 tokens.
    With the time in the system message, two requests share 9 of 41 tokens.
    With the time in the question, they share 29.
"""

from __future__ import annotations

from priompt_py import (
    Node,
    Rendered,
    compile_prompt,
    empty,
    first_difference,
    render,
    scope,
    system_message,
    user_message,
)

LIMIT = 60


def prompt(time: str, *, time_first: bool) -> Node:
    clock = f"The time is {time}. "
    return [
        system_message[clock if time_first else "", "You mend lifts."],
        user_message[
            scope(p=5, name="manual")["Manual: press both buttons at once to restart the lift. "],
            scope(p=3, name="log")["Log: door 3 closed twice within a second. "],
            "" if time_first else clock,
            "It stands still. Why?",
        ],
        empty(tokens=10),
    ]


def shared(*, time_first: bool) -> int:
    one, other = (rendered(time, time_first=time_first) for time in ("9:41", "9:42"))
    found = first_difference(one, other)
    return one.token_count if found is None else found.tokens


def rendered(time: str, *, time_first: bool) -> Rendered:
    return render(prompt(time, time_first=time_first), token_limit=LIMIT, source_map=True)


def main() -> None:
    program = compile_prompt(prompt("9:41", time_first=True))
    report = program.render(token_limit=LIMIT).report
    print(
        f"Under {LIMIT} tokens the cutoff is {report.cutoff}: {report.tokens_used} used, "
        f"{report.tokens_reserved} reserved, {report.tokens_free} free."
    )
    for piece in report.pieces():
        if piece.label is not None:
            fate = "in " if piece.included else "out"
            reason = "" if piece.included else f", {piece.reason}"
            print(f"  {fate}  {piece.label:10} priority {piece.priority}, {piece.tokens} tokens{reason}")
    for why in program.why("log", token_limit=LIMIT):
        print(f"  log comes in at a limit of {why.smallest_limit}.")
    curve = program.curve(token_limit=LIMIT)
    print(f"By level: {', '.join(str(point.tokens) for point in curve.points)} tokens.")
    print(
        f"With the time in the system message, two requests share {shared(time_first=True)} "
        f"of {report.tokens_used} tokens."
    )
    print(f"With the time in the question, they share {shared(time_first=False)}.")


if __name__ == "__main__":
    main()
