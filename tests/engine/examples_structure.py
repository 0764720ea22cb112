"""By hand: what may stand where, and which calls and results go together."""

from __future__ import annotations

from priompt_py.author.messages import (
    assistant_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    first,
    hr,
    isolate,
    scope,
)
from priompt_py.model.elements import BASE_PRIORITY, ToolDefinition
from tests.engine.example import Example, calling

_RESULT = tool_message(tool_call_id="c1")
_CALL = assistant_message(tool_calls=calling("c1"))

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
    Example(
        "a picture in a system message",
        system_message[image(url="https://example.org/a")],
        10**6,
        "StructureError",
    ),
    Example(
        "a picture beside messages",
        [user_message["a"], image(url="https://example.org/a")],
        10**6,
        "StructureError",
    ),
    Example("a part without a message", part(provider="openai", data={}, tokens=1), 9, "StructureError"),
    Example("a priority that overflows", scope(p=1.7e308)[scope(prel=1.7e308)["a"]], 9, "ArgumentValueError"),
    Example("a whole number too great", scope(p=10**400)[scope(prel=0.5)["a"]], 9, "ArgumentValueError"),
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
        "a picture where it may stand",
        user_message["a", image(url="https://example.org/a", detail="low")],
        86,
        [("user", "a")],
        count=86,
    ),
    Example(
        "a part in any message",
        system_message["a", part(provider="openai", data={"b": 1}, tokens=3)],
        4,
        [("system", "a")],
        count=4,
    ),
    Example(
        "a part without a cost is its JSON",
        system_message["a", part(provider="openai", data={"é": 1})],
        9,
        [("system", "a")],
        count=9,
    ),
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
