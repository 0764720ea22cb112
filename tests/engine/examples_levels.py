"""By hand: priorities, alternatives, counts."""

from __future__ import annotations

from priompt_py.author.messages import (
    assistant_message,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    br,
    cache_break,
    config,
    empty,
    fallback,
    first,
    hr,
    scope,
    token_break,
)
from priompt_py.model.elements import BASE_PRIORITY, Node, ToolDefinition
from priompt_py.testing.tokenizers import GreedyTokenizer
from tests.engine.example import GREEDY, OPENAI, Example, calling

_RESULT = tool_message(tool_call_id="c1")
_CALL = assistant_message(tool_calls=calling("c1"))

PRIORITIES = [
    Example("nothing at all", [], 0, "", count=0),
    Example("what has no priority is required", ["A", scope(p=1)["B"]], 1, "A"),
    Example("the smallest level that fits", ["A", scope(p=1)["BB"], scope(p=2)["C"]], 2, "AC", 2),
    Example("equal priorities go together", ["A", scope(p=1)["B"], scope(p=1)["C"]], 2, "A"),
    Example("fractions are levels", ["A", scope(p=0.2)["BB"], scope(p=0.7)["CC"]], 3, "ACC", 0.7),
    Example(
        "whole numbers stay exact", ["A", scope(p=10**18 + 1, prel=None)["B"], scope(p=10**18)["C"]], 3, "ABC"
    ),
    Example(
        "whole numbers below the base stay exact",
        scope(p=-(10**18))[scope(prel=-1)["B"], scope(prel=-2)["CC"]],
        1,
        "B",
        -(10**18) - 1,
    ),
    Example("above the base is required", [scope(p=BASE_PRIORITY + 1)["AA"]], 1, "PromptTooLong"),
    Example("a positive prel is required", [scope(prel=5)["AA"], scope(p=1)["B"]], 2, "AA"),
    Example(
        "prel counts from the parent", scope(p=4)["A", scope(prel=-1)["B"], scope(prel=-2)["C"]], 2, "AB", 3
    ),
    Example("a child above its parent goes with it", ["A", scope(p=2)["b", scope(p=9)["C"]]], 2, "A", 9),
    Example("priority of an element", ["A", hr(p=1), br(p=2)], 2, "A\n", 2),
    Example("an element gives no level without a priority", [br, hr], 12, "\n\n\n-------\n\n", count=12),
    Example("one element in two places", [scope(p=3)["x"], scope(p=1)["y"]] * 2, 3, "xx", 3),
    Example("numbers, None and booleans", [1, None, 1.0, True, -0.0, False], 10, "11.0-0.0"),
]

_SHORTER: Node = ["A", first[scope(p=1)["long text"], scope(p=2)["short"]]]
FIRSTS = [
    Example("the first alternative that reaches the cutoff", _SHORTER, 10, "Along text", 1),
    Example("the next one when it doesn't fit", _SHORTER, 9, "Ashort", 2),
    Example("none", _SHORTER, 5, "A"),
    Example("an alternative without priority is always eligible", first[scope(p=1)["AA"], "B"], 1, "B"),
    Example("one behind it never is", first["B", scope(p=1)["A"]], 9, "B", 1),
    Example(
        "counts that rise with the level",
        ["H:", first[scope(p=3)["ab"], scope(p=6)["0123456789"]], scope(p=8)["e"]],
        6,
        "H:abe",
        3,
        5,
    ),
    Example("None is no alternative", first[None, scope(p=1)["A"], False], 1, "A", 1),
    Example("a blank text is one", first["", "A"], 1, ""),
    Example("a list is spread", first[[scope(p=1)["A"], scope(p=2)["B"]]], 1, "A", 1),
    Example(
        "a fallback ranks its alternatives", ["A", fallback["long", "mid", "s"]], 4, "Amid", BASE_PRIORITY - 1
    ),
    Example("a fallback's last is in with it", ["A", fallback["long", "mid", "s"]], 2, "As"),
    Example("and goes with it", ["A", fallback(p=5)["long", "s"]], 1, "A"),
    Example(
        "a fallback counts from its own priority",
        ["A", fallback(p=5)["long", "s"], scope(p=4)["B"]],
        3,
        "As",
        5,
    ),
    Example("a first within a first, with nothing to show", first[first[scope(p=1)["AA"]], "B"], 1, ""),
]

COUNTS = [
    Example("neighbouring text is joined", ["a", scope(p=5)["bcd"]], 2, "a", BASE_PRIORITY, 1, GREEDY),
    Example(
        "tokens don't merge across a token break",
        ["a", token_break, scope(p=5)["bcd"]],
        2,
        "abcd",
        5,
        2,
        GREEDY,
    ),
    Example("nor across a cache break", ["a", cache_break, scope(p=5)["bcd"]], 2, "abcd", 5, 2, GREEDY),
    Example(
        "nor behind a line break",
        [br, "x"],
        2,
        "\nx",
        BASE_PRIORITY,
        2,
        {"tokenizer": GreedyTokenizer(("\nx", "a\n"))},
    ),
    Example(
        "but before it",
        ["a", br, "x"],
        2,
        "a\nx",
        BASE_PRIORITY,
        2,
        {"tokenizer": GreedyTokenizer(("\nx", "a\n"))},
    ),
    Example(
        "a config doesn't part text", ["a", config(stop="x"), scope(p=5)["bcd"]], 3, "abcd", 5, 3, GREEDY
    ),
    Example(
        "a reserve lies within the limit", ["A", empty(tokens=2), scope(p=1)["B"]], 3, "A", BASE_PRIORITY, 1
    ),
    Example("a reserve that is out is not kept", ["A", empty(tokens=2, p=1)], 2, "A", BASE_PRIORITY, 1),
    Example(
        "frames, names, the start of the answer",
        [user_message(name="Ann")["a"], system_message(to="b")["cc"]],
        24,
        [("user", "a"), ("system", "cc")],
        BASE_PRIORITY,
        23,
        OPENAI,
    ),
    Example("no message is in", scope(p=1)[user_message["a"]], 7, [], BASE_PRIORITY, 0, OPENAI),
    Example(
        "the last message incomplete",
        user_message["a"],
        4,
        [("user", "a")],
        BASE_PRIORITY,
        4,
        {**OPENAI, "last_message_incomplete": True},
    ),
    Example(
        "incomplete without a message",
        scope(p=1)[user_message["aaaaa"]],
        4,
        [],
        BASE_PRIORITY,
        0,
        {**OPENAI, "last_message_incomplete": True},
    ),
    Example(
        "a call costs its name, its arguments and 3",
        [_CALL, _RESULT["r"]],
        99,
        [("assistant", ""), ("tool", "r")],
        BASE_PRIORITY,
        16,
        OPENAI,
    ),
    Example("an emptied message stays", user_message[scope(p=1)["abc"]], 2, [("user", "")]),
    Example("blank text beside messages is dropped", [" ", user_message["a"], "\n", br], 1, [("user", "a")]),
    Example(
        "equal tools are sent once", [ToolDefinition(name="f", p=1), ToolDefinition(name="f")], 21, "", 1, 21
    ),
]
