"""Does a prompt keep to its budget, and in which order do its parts go?

In a test module, one line does it: `test_chat = budget_test(chat, limits=range(100, 400), must_keep=["question"])`.

Prints:

    the whole prompt: 44 words
    at most 43 words: without turn 0
    at most 36 words: without turn 1
    at most 29 words: without turn 2
    chat breaks 'kept' at a limit of 30: 'turn 1' is left out: its priority is 999000001, the cutoff is 999000002
"""

from __future__ import annotations

from priompt_py import Node, scope, system_message, turn, user_message
from priompt_py.testing import BudgetError, WordTokenizer, check_budget, squeeze

WORDS = WordTokenizer()  # a word is a token


def chat(question: str, history: list[str]) -> Node:
    return [
        system_message["Answer in one or two sentences, from the opening hours alone."],
        [scope(prel=turn(i), name=f"turn {i}")[user_message[said]] for i, said in enumerate(history)],
        user_message(key="question")[question],
    ]


HISTORY = [
    "When are you open on weekdays, please?",
    "And is that so in winter too?",
    "What about the days before public holidays?",
]
QUESTION = "Then when would you come yourself, if you had one free morning?"


def main() -> None:
    before: set[str | None] = set()
    limit = 0
    for rendered in squeeze(chat(QUESTION, HISTORY), tokenizer=WORDS):
        now = {decision.label for decision in rendered.decisions if decision.included}
        if before:
            print(f"at most {limit - 1} words: without {', '.join(map(str, before - now))}")
        else:
            print(f"the whole prompt: {rendered.token_count} words")
        before, limit = now, rendered.token_limit
    try:
        props = {"question": QUESTION, "history": HISTORY}
        check_budget(chat, props, token_limits=[30], must_keep=["question", "turn 1"], tokenizer=WORDS)
    except BudgetError as error:
        print(str(error).partition(" (root")[0])


if __name__ == "__main__":
    main()
