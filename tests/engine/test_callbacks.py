"""Callbacks: once, after the decision, in document order; what they get and what they may raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from priompt_py import (
    Decision,
    Node,
    PromptTooLong,
    arender,
    at_most,
    compile_prompt,
    first,
    isolate,
    render,
    scope,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()
Log = list[str]


def hooks(log: Log, label: str) -> dict[str, Any]:
    return {
        "name": label,
        "on_include": lambda: log.append(f"+{label}"),
        "on_eject": lambda: log.append(f"-{label}"),
    }


def fired(make: Callable[[Log], Node], limit: int) -> Log:
    log: Log = []
    render(make(log), token_limit=limit, tokenizer=CHARS)
    return log


def nested(log: Log) -> Node:
    return [
        "A",
        scope(p=3, **hooks(log, "s3"))["B"],
        scope(p=2, **hooks(log, "s2"))["CC", scope(p=2, **hooks(log, "s2in"))[""]],
        scope(p=1, **hooks(log, "s1"))["DDDD", scope(p=1, **hooks(log, "s1in"))["E"]],
    ]


def alternatives(log: Log) -> Node:
    return first(**hooks(log, "g"))[
        scope(p=1, **hooks(log, "a"))["long text"],
        scope(p=2, **hooks(log, "b"))["short"],
        scope(p=3, **hooks(log, "c"))["x", scope(**hooks(log, "c_in"))["y"]],
    ]


def within(log: Log) -> Node:
    return [
        isolate(token_limit=2)[scope(p=2, **hooks(log, "in"))["a"], scope(p=1, **hooks(log, "out"))["bb"]],
        scope(p=5)[isolate(token_limit=9)[scope(p=9, **hooks(log, "away"))["ccc"]]],
        at_most(token_limit=1)[
            scope(p=7, **hooks(log, "over"))["dd"], scope(p=8, **hooks(log, "under"))["d"]
        ],
        at_most(token_limit="10%", p=6)["eee", scope(**hooks(log, "counts as out"))["e"]],
    ]


@pytest.mark.parametrize(
    ("make", "limit", "log"),
    [
        (nested, 4, "+s3 +s2 +s2in -s1 -s1in"),
        (nested, 1, "-s3 -s2 -s2in -s1 -s1in"),
        (nested, 9, "+s3 +s2 +s2in +s1 +s1in"),
        (alternatives, 5, "+g -a +b -c -c_in"),
        (alternatives, 2, "+g -a -b +c +c_in"),
        (alternatives, 9, "+g +a -b -c -c_in"),
        (alternatives, 0, "-g -a -b -c -c_in"),
        (within, 4, "+in -out -away -over +under -counts as out"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", str(value)),
)
def test_every_hooked_element_hears_of_its_fate(make: Callable[[Log], Node], limit: int, log: str) -> None:
    assert " ".join(fired(make, limit)) == log


def test_a_second_render_calls_them_once_more() -> None:
    log: Log = []
    tree = nested(log)
    for _ in range(2):
        render(tree, token_limit=4, tokenizer=CHARS)
    assert log == ["+s3", "+s2", "+s2in", "-s1", "-s1in"] * 2


def test_none_are_called_for_a_render_that_fails() -> None:
    log: Log = []
    with pytest.raises(PromptTooLong):
        render(nested(log), token_limit=0, tokenizer=CHARS)
    assert log == []


def test_none_are_called_when_nobody_renders() -> None:
    log: Log = []
    program = compile_prompt(nested(log))
    found = program.render(token_limit=4, tokenizer=CHARS)
    assert [decision.label for decision in found.decisions] == ["s3", "s2", "s2in", "s1", "s1in"]
    assert [decision.tokens for decision in found.decisions] == [1, 2, 0, 5, 1]
    assert render(nested(log), token_limit=4, tokenizer=CHARS, callbacks=False) == found
    assert log == []


def test_a_program_calls_them_when_asked() -> None:
    log: Log = []
    compile_prompt(alternatives(log)).render(token_limit=5, tokenizer=CHARS, callbacks=True)
    assert log == ["+g", "-a", "+b", "-c", "-c_in"]


def test_one_element_in_two_places_hears_twice() -> None:
    log: Log = []
    shared = scope(prel=-1, **hooks(log, "s"))["s"]
    render([scope(p=9)[shared], scope(p=2)[shared]], token_limit=1, tokenizer=CHARS)
    assert log == ["+s", "-s"]


# ------------------------------------------------------------------------------------------ what they get


def test_a_callback_that_takes_an_argument_gets_the_decision() -> None:
    met: list[Decision] = []

    def note(decision: Decision) -> None:
        met.append(decision)

    tree = user_message[
        scope(p=3, name="in", on_include=note)["a"], scope(p=2, key="out", on_eject=note)["bbb"]
    ]
    found = render(tree, token_limit=2, tokenizer=CHARS)
    inside, outside = met
    assert (inside.label, inside.path, inside.included, inside.reason) == (
        "in",
        "root > 0:user > 0:scope[name=in]",
        True,
        "included",
    )
    assert (outside.label, outside.included, outside.reason, outside.tokens) == (
        "out",
        False,
        "below_cutoff",
        3,
    )
    assert (inside.priority, inside.effective_priority, inside.kind) == (3, 3, "scope")
    assert [decision.path for decision in found.decisions if decision.kind == "scope"] == [
        each.path for each in met
    ]


class Takers:
    """Callbacks of all sorts; each notes how many arguments it got."""

    def __init__(self) -> None:
        self.log: list[int] = []

    def none(self) -> None:
        self.log.append(0)

    def one(self, decision: Decision) -> None:
        self.log.append(1)

    def optional(self, decision: Decision | None = None) -> None:
        self.log.append(int(decision is not None))

    def many(self, *decisions: Decision) -> None:
        self.log.append(len(decisions))

    def by_name(self, *, decision: Decision | None = None) -> None:
        self.log.append(int(decision is not None))

    def names(self, **decisions: Decision) -> None:
        self.log.append(len(decisions))

    def two_of_which_one_is_optional(self, decision: Decision, more: int = 1) -> None:
        self.log.append(more)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *(("none", 0), ("one", 1), ("optional", 1), ("many", 1)),
        *(("by_name", 0), ("names", 0), ("two_of_which_one_is_optional", 1)),
    ],
)
def test_a_callback_gets_as_much_as_it_takes(name: str, arguments: int) -> None:
    takers = Takers()
    render(scope(on_include=getattr(takers, name))["a"], token_limit=9, tokenizer=CHARS)
    assert takers.log == [arguments]


def test_a_bound_method_is_a_callback() -> None:
    log: list[Decision] = []
    render(scope(on_include=log.append)["a"], token_limit=9, tokenizer=CHARS)
    assert [decision.included for decision in log] == [True]


# ------------------------------------------------------------------------------------------ what they raise


def failing(log: Log, *errors: Exception) -> Node:
    def fail(error: Exception) -> Callable[[], None]:
        def callback() -> None:
            log.append(str(error))
            raise error

        return callback

    return [scope(on_include=fail(error))["a"] for error in errors] + [scope(**hooks(log, "last"))["b"]]


def test_an_error_reaches_the_caller_after_the_rest_have_run() -> None:
    log: Log = []
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught:
        render(failing(log, error), token_limit=9, tokenizer=CHARS)
    assert caught.value is error
    assert log == ["'mine'", "+last"]


def test_several_errors_come_in_a_group() -> None:
    log: Log = []
    errors = [KeyError("one"), ValueError("two")]
    with pytest.raises(ExceptionGroup) as caught:
        render(failing(log, *errors), token_limit=9, tokenizer=CHARS)
    assert list(caught.value.exceptions) == errors
    assert log[-1] == "+last"


@pytest.mark.anyio
async def test_async_callbacks_fail_alike() -> None:
    log: Log = []

    async def fail() -> None:
        raise ValueError("later")

    tree = [scope(on_include=fail)["a"], scope(**hooks(log, "last"))["b"]]
    with pytest.raises(ValueError, match="later"):
        await arender(tree, token_limit=9, tokenizer=CHARS)
    assert log == ["+last"]
