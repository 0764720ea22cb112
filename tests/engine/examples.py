"""Small prompts with what they come to, worked out by hand from the specification's text.

A character is a token and messages cost nothing, where an example does not say otherwise.
"""

# ruff: noqa: S106 - token_limit is no password
from __future__ import annotations

from typing import Any

import attrs

from priompt_py.author.messages import assistant_message, system_message, tool_message, user_message
from priompt_py.author.tags import (
    at_most,
    br,
    cache_break,
    config,
    empty,
    fallback,
    first,
    hr,
    isolate,
    scope,
    token_break,
)
from priompt_py.model.elements import BASE_PRIORITY, Node, ToolDefinition
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer
from priompt_py.tokens.chat_format import OPENAI_CHAT


@attrs.frozen
class Example:
    """``comes_to``: text, or role and text of each message, with the cutoff; or the name of an error."""

    name: str
    tree: Node
    limit: int
    comes_to: Any
    cutoff: Any = BASE_PRIORITY
    count: int | None = None
    how: dict[str, Any] = attrs.field(factory=dict[str, Any])


GREEDY = {"tokenizer": GreedyTokenizer(("ab", "bcd"))}
OPENAI = {"chat_format": OPENAI_CHAT}


def calling(*ids: str) -> list[dict[str, str]]:
    return [{"id": each, "name": "f", "arguments": ""} for each in ids]


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

LIMITS = [
    Example(
        "max takes the smallest level under its ceiling",
        at_most(token_limit=3)[scope(p=1)["aaa"], scope(p=2)["bb"], "c"],
        9,
        "bbc",
        1,
    ),
    Example(
        "max follows the cutoff",
        [at_most(token_limit=9)[scope(p=1)["aa"], scope(p=3)["b"]], scope(p=2)["c"]],
        2,
        "bc",
        2,
    ),
    Example(
        "max within max",
        at_most(token_limit=5)[
            scope(p=3)["xx"],
            at_most(token_limit=2)[scope(p=1)["aaa"], scope(p=2)["b"], "c"],
            scope(p=1)["zzz"],
        ],
        9,
        "xxbc",
        1,
    ),
    Example(
        "max counts what it reserves",
        at_most(token_limit=3)[empty(tokens=2), scope(p=1)["aa"], "b"],
        9,
        "b",
        1,
    ),
    Example(
        "max counts frames, not the start of the answer",
        at_most(token_limit=5)[user_message["a"], scope(p=1)[user_message["b"]]],
        99,
        [("user", "a")],
        1,
        8,
        OPENAI,
    ),
    Example("max counts alone", ["a", at_most(token_limit=1)["bcd"]], 3, "abcd", BASE_PRIORITY, 3, GREEDY),
    Example("over a fixed ceiling", ["A", scope(p=1)[at_most(token_limit=1)["bb"]]], 9, "PromptTooLong"),
    Example(
        "over a fixed ceiling in an alternative that is not chosen",
        first["A", scope(p=1)[at_most(token_limit=1)["bb"]]],
        9,
        "PromptTooLong",
    ),
    Example(
        "over a fixed ceiling within one that counts as out",
        ["A", scope(p=1)[at_most(token_limit="10%")[at_most(token_limit=1)["bb"]]]],
        9,
        "PromptTooLong",
    ),
    Example("over a relative ceiling and required", at_most(token_limit="50%")["bbbb"], 6, "PromptTooLong"),
    Example(
        "over a relative ceiling counts as out",
        ["A", scope(p=1)[at_most(token_limit="50%")["bbbb"], "c"]],
        6,
        "Ac",
        1,
    ),
    Example("under it again", ["A", scope(p=1)[at_most(token_limit="50%")["bbbb"], "c"]], 8, "Abbbbc", 1),
    Example(
        "counts as out, and is chosen all the same",
        first[scope(p=1)[at_most(token_limit="10%")["bbbb"]], "c"],
        10,
        "",
        1,
    ),
    Example("a share is floored", at_most(token_limit="50%")[scope(p=1)["aa"], "b"], 5, "b", 1),
    Example("a share and more", at_most(token_limit="50% + 1")[scope(p=1)["aa"], "b"], 5, "aab", 1),
    Example("a share and less is no less than 0", at_most(token_limit="50%-9")[scope(p=1)["aa"]], 5, "", 1),
    Example(
        "a share of the limit around it",
        at_most(token_limit=4)[at_most(token_limit="50%")[scope(p=1)["aaa"], "bb"]],
        99,
        "bb",
        1,
    ),
    Example(
        "isolate renders by itself",
        [isolate(token_limit=4)["P", scope(p=2)["QQ"], scope(p=1)["RR"]], "|", scope(p=9)["tail"]],
        100,
        "PQQ|tail",
        9,
    ),
    Example(
        "isolate shows the same under any limit",
        [isolate(token_limit=4)["P", scope(p=2)["QQ"]], "|", scope(p=9)["tail"]],
        4,
        "PQQ|",
    ),
    Example(
        "isolate needs what it shows",
        [isolate(token_limit=4)["P", scope(p=2)["QQ"]], "|"],
        3,
        "PromptTooLong",
    ),
    Example(
        "an isolate that fits at no level",
        ["A", scope(p=1)[isolate(token_limit=1)["bb"]]],
        9,
        "PromptTooLong",
    ),
    Example(
        "an isolate with a share counts as out",
        ["A", scope(p=1)[isolate(token_limit="10%")["bb"]]],
        9,
        "A",
        1,
    ),
    Example("its priorities start afresh", scope(p=1)[isolate(token_limit=9)[scope(prel=1)["a"]]], 9, "a", 1),
    Example(
        "its text joins the text around",
        ["a", isolate(token_limit=1)["bcd"]],
        3,
        "abcd",
        BASE_PRIORITY,
        3,
        GREEDY,
    ),
    Example(
        "its reserve is the prompt's",
        [isolate(token_limit=5)[empty(tokens=3), "a"], scope(p=1)["b"]],
        4,
        "a",
        BASE_PRIORITY,
        1,
    ),
    Example(
        "a chat's 3 once in the isolate",
        isolate(token_limit=7)[user_message[""], scope(p=1)[user_message[""]]],
        99,
        [("user", "")],
        BASE_PRIORITY,
        7,
        OPENAI,
    ),
    Example(
        "a chat's 3 once in all",
        [isolate(token_limit=8)[user_message["a"]], user_message["b"]],
        99,
        [("user", "a"), ("user", "b")],
        BASE_PRIORITY,
        13,
        OPENAI,
    ),
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

_STUB = first[scope(p=1)[_RESULT["full text"]], _RESULT["-"]]
TOOLS = [
    Example("call and result", [_CALL, scope(p=1)[_RESULT["r"]]], 2, [("assistant", ""), ("tool", "r")], 1),
    Example(
        "a result that is out takes the call with it",
        [user_message["u"], _CALL, scope(p=1)[_RESULT["rrr"]]],
        2,
        [("user", "u")],
    ),
    Example(
        "what the assistant said stays", [_CALL["hm"], scope(p=1)[_RESULT["rrr"]]], 3, [("assistant", "hm")]
    ),
    Example("blanks do not", [_CALL[" "], scope(p=1)[_RESULT["rrr"]]], 3, []),
    Example(
        "a call that is out takes the result with it",
        [scope(p=2)[_CALL["aa"]], _RESULT["r"], scope(p=3)["\n", user_message["u"]]],
        3,
        [("user", "u")],
        3,
    ),
    Example("a stub is a result", [_CALL, _STUB], 2, [("assistant", ""), ("tool", "-")]),
    Example("so is the whole", [_CALL, _STUB], 10, [("assistant", ""), ("tool", "full text")], 1),
    Example(
        "all of several, or none",
        [
            assistant_message(tool_calls=calling("c1", "c2")),
            _RESULT["r"],
            scope(p=1)[tool_message(tool_call_id="c2")["s" * 9]],
        ],
        9,
        [],
    ),
    Example(
        "a max is measured before units are closed",
        [scope(p=1)[_CALL["a" * 9]], at_most(token_limit=3)[_RESULT["r"], scope(p=2)[user_message["uuu"]]]],
        5,
        [],
        2,
    ),
    Example(
        "unpaired on request",
        [_CALL, scope(p=1)[_RESULT["rrr"]]],
        2,
        [("assistant", "")],
        BASE_PRIORITY,
        1,
        {"pair_tools": False},
    ),
]

WRONG_STRUCTURE = [
    Example("a message inside a message", user_message[scope(p=1)[system_message["a"]]], 9, "StructureError"),
    Example(
        "a message inside a message inside an isolate",
        user_message[isolate(token_limit=0)[system_message["a"]]],
        0,
        "StructureError",
    ),
    Example("text beside messages", [user_message["a"], scope(p=1)["b"]], 9, "StructureError"),
    Example("a rule beside messages", [user_message["a"], hr], 99, "StructureError"),
    Example(
        "text beside a message that is never chosen",
        first["a", scope(p=1)[user_message["b"]]],
        9,
        "StructureError",
    ),
    Example("a call without a result", [_CALL["a"]], 9, "StructureError"),
    Example("a result without a call", [_RESULT["a"]], 9, "StructureError"),
    Example("a result before its call", [_RESULT["a"], _CALL["b"]], 9, "StructureError"),
    Example(
        "an empty id",
        [assistant_message(tool_calls=calling("")), tool_message(tool_call_id="")["r"]],
        9,
        "StructureError",
    ),
    Example("two results", [_CALL["a"], _RESULT["a"], scope(p=1)[_RESULT["b"]]], 9, "StructureError"),
    Example("two calls of one id", [_CALL, _RESULT["a"], _CALL, _RESULT["b"]], 9, "StructureError"),
    Example(
        "a pair across an isolate's border",
        [_CALL["a"], isolate(token_limit=9)[_RESULT["r"]]],
        9,
        "StructureError",
    ),
    Example(
        "two tools of one name",
        [ToolDefinition(name="f"), ToolDefinition(name="f", description="g", p=1)],
        99,
        "StructureError",
    ),
]

RIGHT_STRUCTURE = [
    Example(
        "one id in two alternatives",
        first[scope(p=1)[_CALL["aaa"], _RESULT["b"]], scope(p=2)[_CALL["a"], _RESULT["b"]]],
        3,
        [("assistant", "a"), ("tool", "b")],
        2,
    ),
    Example(
        "a pair within an isolate",
        isolate(token_limit=9)[_CALL["a"], _RESULT["r"]],
        9,
        [("assistant", "a"), ("tool", "r")],
    ),
    Example(
        "a result without a call, unpaired on request",
        [_RESULT["a"]],
        9,
        [("tool", "a")],
        how={"pair_tools": False},
    ),
    Example(
        "two tools of one name in two alternatives",
        first[scope(p=1)[ToolDefinition(name="f", description="long")], ToolDefinition(name="f")],
        21,
        "",
        BASE_PRIORITY,
        21,
    ),
]

EXAMPLES = [*PRIORITIES, *FIRSTS, *LIMITS, *COUNTS, *TOOLS, *WRONG_STRUCTURE, *RIGHT_STRUCTURE]


def arguments(example: Example) -> dict[str, Any]:
    """What to pass to ``render`` besides the tree."""
    return {"tokenizer": CharTokenizer(), "token_limit": example.limit, **example.how}
