"""What a page is told of a prompt is what a render under the same limit holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py import (
    Node,
    PromptTooLong,
    Rendered,
    assistant_message,
    at_most,
    br,
    capture,
    component,
    config,
    empty,
    excerpt,
    fallback,
    first,
    hr,
    image,
    isolate,
    part,
    render,
    scope,
    system_message,
    token_break,
    tool_definition,
    tool_message,
    turn,
    user_message,
)
from tests.web.asking import Page, rows_in, text_of

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]


@component
def quoted(children: Node, *, source: str) -> Node:
    return ["From ", source, ": ", children, br]


async def later() -> Node:
    return scope(p=4)["later "]


def four_words(count: Callable[[str], int]) -> int:
    return count("four words are here")


PROMPTS: dict[str, Node] = {
    "text": [
        "one ",
        scope(p=3)["two two "],
        scope(p=2, name="deep")["three ", scope(p=1)["four four four"]],
        hr,
        7,
    ],
    "chat": [
        system_message["Be kind"],
        [scope(prel=turn(i), name=f"turn {i}")[user_message[f"noise {i}"]] for i in range(4)],
        user_message[quoted(source="wiki")["a page"], br, "Why? 😀", scope(p=5)["你好"], token_break],
        empty(tokens=9),
        config(stop="END"),
        capture(on_output=print),
    ],
    "alternatives": [
        fallback(p=9)["the whole long text of it all", "shorter text", "short"],
        first[scope(p=5)["b b b b"], scope(p=7)["c c"], "d"],
        isolate(token_limit=6, p=4)["always ", scope(p=2)["sometimes "], scope(p=1)["hardly ever at all"]],
        at_most(token_limit=5)[scope(p=8)["x x "], scope(p=6)["y y "], scope(p=3)["z z z z"]],
        excerpt("a\nb\nc\nd\ne\n", around=2, omitted="...\n"),
    ],
    "tools": [
        user_message["weather?"],
        scope(p=3)[
            assistant_message(tool_calls=[{"id": "1", "name": "look", "arguments": {"at": "sky"}}]),
            tool_message(tool_call_id="1")[scope(p=2)["blue and very, very far away"]],
        ],
        scope(p=1)[tool_definition(name="look", description="Looks", parameters={"type": "object"})],
        user_message[image(url="https://example.org/a.png", dimensions=(10, 10), p=2), "and this?"],
        user_message[part(provider="openai", data={"type": "x"}, tokens=3, p=5), "so"],
    ],
    "relative": [
        "base ",
        isolate(token_limit="50%", p=4)[
            "in ", scope(p=2)["more more more "], scope(p=1)["most most most most"]
        ],
        scope(p=3)["outside outside outside outside "],
    ],
    "async": ["now ", later, scope(p=2)["and then"]],
    "reserves": ["a ", empty(tokens=four_words, p=3), scope(p=2)["b b b"]],
}


def decided(rendered: Rendered, paths: dict[str, int]) -> dict[int, bool]:
    return {paths[one.path]: one.included for one in rendered.decisions}


def path_of(elements: dict[str, Any], row: int) -> str:
    """As the page makes it of segments."""
    steps: list[str] = []
    while row >= 0:
        steps.append(elements["segment"][row])
        row = elements["parent"][row]
    return " > ".join(["root", *reversed(steps)])


async def rendered(name: str, limit: int) -> Rendered:
    from priompt_py import arender

    return await arender(PROMPTS[name], token_limit=limit, callbacks=False, source_map=True)


async def rendered_if_it_fits(name: str, limit: int) -> Rendered | None:
    try:
        return await rendered(name, limit)
    except PromptTooLong:
        return None


@pytest.mark.parametrize("name", PROMPTS)
async def test_each_limit_shows_what_a_render_holds(page: Pages, name: str) -> None:
    one = page(prompts={name: PROMPTS[name]})
    opened = await one.post("/api/open", {"prompt": name})
    view, elements = opened["view"], opened["elements"]
    kinds = [elements["kinds"][kind] for kind in elements["kind"]]
    rows = [row for row in range(elements["count"]) if kinds[row] != "omitted"]  # which have a piece's path
    paths = {path_of(elements, row): row for row in rows}
    assert len(paths) == len(rows)
    assert opened["relative"] is (name == "relative")
    whole = await rendered(name, 1 << 40)
    assert opened["total"] == whole.token_count + whole.tokens_reserved
    previous = None
    for limit in range(opened["total"] + 3):
        position = await one.get(f"/api/views/{view}/at", limit=limit, seq=limit)
        assert position["seq"] == position["limit"] == limit
        flags = rows_in(position, elements["count"])
        now = await rendered_if_it_fits(name, limit)
        if now is None:
            assert position["fits"] is False
            assert position["required"] == opened["least"] > limit
            assert position["free"] < 0
            assert position["used"] + position["reserved"] > limit
            continue
        assert position["fits"] is True
        assert limit >= opened["least"]
        assert (position["used"], position["reserved"], position["cutoff"]) == (
            now.token_count,
            now.tokens_reserved,
            now.cutoff,
        )
        assert position["free"] == limit - now.token_count - now.tokens_reserved
        assert {row: flags[row] for row in decided(now, paths)} == decided(now, paths)
        assert (position["elements_in"], position["elements_out"]) == (
            now.report.elements_in,
            now.report.elements_out,
        )
        assert (position["level"] + 1, position["levels"]) == (now.report.level, now.report.levels)
        content = re.sub(r"<\|im_start\|>.*?<\|im_sep\|>|<\|im_end\|>", "", now.to_text(), flags=re.DOTALL)
        assert text_of(opened, position) == content
        if position["bits"] != previous and now.text is not None:
            assert (await one.get(f"/api/views/{view}/request", limit=limit, provider="text"))[
                "text"
            ] == now.text
        previous = position["bits"]


@pytest.mark.parametrize("name", ["text", "chat", "alternatives"])
async def test_a_curve_tells_what_each_level_costs(page: Pages, name: str) -> None:
    one = page(prompts={name: PROMPTS[name]})
    opened = await one.post("/api/open", {"prompt": name})
    view = opened["view"]
    curve = await one.get(f"/api/views/{view}/curve")
    assert len(curve["points"]) == opened["position"]["levels"]
    assert [level for level, _, _ in curve["points"]] == sorted(
        (level for level, _, _ in curve["points"]), reverse=True
    )
    for step in curve["steps"]:
        level, tokens, reserved = curve["points"][step]
        position = await one.get(f"/api/views/{view}/at", level=step)
        assert (position["level"], position["cutoff"]) == (step, level)
        assert (position["limit"], position["free"], position["reserved"]) == (tokens, 0, reserved)
    status, kind, message = await one.error(f"/api/views/{view}/at?level=99")
    assert (status, kind) == (404, "unknown")
    assert message == f"it has the levels 0 to {len(curve['points']) - 1}, got 99"


async def test_a_curve_of_relative_limits_is_of_one_limit(page: Pages) -> None:
    one = page(prompts={"relative": PROMPTS["relative"]})
    view = (await one.post("/api/open", {"prompt": "relative"}))["view"]
    narrow = await one.get(f"/api/views/{view}/curve", limit=12)
    wide = await one.get(f"/api/views/{view}/curve", limit=40)
    assert narrow["points"] != wide["points"]
    assert (await one.error(f"/api/views/{view}/at?level=0"))[:2] == (404, "unknown")


async def test_rows_say_what_elements_are(page: Pages) -> None:
    one = page(prompts=PROMPTS)
    opened = await one.post("/api/open", {"prompt": "tools"})
    elements = opened["elements"]
    kinds = [elements["kinds"][kind] for kind in elements["kind"]]
    details = {kinds[int(row)]: told for row, told in elements["details"].items()}
    assert details["tool_definition"] == {
        "name": "look",
        "description": "Looks",
        "parameters": {"json": {"type": "object"}},
        "handlers": [],
    }
    assert details["image"] == {
        "source": "https://example.org/a.png",
        "detail": "auto",
        "dimensions": [10, 10],
    }
    assert details["part"] == {"provider": "openai"}
    roles = {told["role"]: told for row, told in elements["details"].items() if kinds[int(row)] == "message"}
    assert roles["assistant"]["tool_calls"] == [{"id": "1", "name": "look", "arguments": '{"at": "sky"}'}]
    assert (roles["tool"]["tool_call_id"], roles["tool"]["is_error"]) == ("1", False)
    chat = (await one.post("/api/open", {"prompt": "chat"}))["elements"]
    told = {chat["kinds"][chat["kind"][int(row)]]: value for row, value in chat["details"].items()}
    assert told["empty"] == {"tokens": 9}
    assert told["capture"] == {"handlers": ["on_output"]}
    assert told["config"] == {"stop": {"json": "END"}}
    assert told["component"] == {"name": "quoted"}
    assert [chat["label"][row] for row in range(chat["count"]) if chat["label"][row]] == [
        f"turn {number}" for number in range(4)
    ]
    reserves = await one.post("/api/open", {"prompt": "reserves"})
    assert reserves["elements"]["details"] == {"1": {"tokens": 4}}
    limits = (await one.post("/api/open", {"prompt": "alternatives"}))["elements"]
    told = {limits["kinds"][limits["kind"][int(row)]]: value for row, value in limits["details"].items()}
    assert (told["isolate"], told["max"]) == ({"token_limit": 6}, {"token_limit": 5})


async def test_texts_that_are_very_long_come_in_part(page: Pages) -> None:
    one = page(prompts={"long": ["x" * 30_000, "y"]})
    opened = await one.post("/api/open", {"prompt": "long"})
    assert [len(text) for text in opened["elements"]["text"]] == [20_000, 1]
    assert opened["elements"]["cut"] == {"0": 30_000}
    assert (await one.get(f"/api/views/{opened['view']}/text", row=0))["text"] == "x" * 30_000
    assert (await one.get(f"/api/views/{opened['view']}/text", row=1))["text"] == "y"
    assert await one.error(f"/api/views/{opened['view']}/text?row=2") == (
        404,
        "unknown",
        "it has the rows 0 to 1, got 2",
    )


async def test_priorities_that_javascript_would_round_are_text(page: Pages) -> None:
    one = page(prompts={"big": [scope(p=-(2**60))["a"], scope(p=0.5)["b"], scope(p=-1e300)["c"]]})
    opened = await one.post("/api/open", {"prompt": "big"})
    assert opened["elements"]["priority"] == [
        "-1152921504606846976",
        "-1152921504606846976",
        0.5,
        0.5,
        -1e300,
        -1e300,
    ]


async def test_an_element_tells_why(page: Pages) -> None:
    one = page(prompts=PROMPTS)
    opened = await one.post("/api/open", {"prompt": "alternatives"})
    view, elements = opened["view"], opened["elements"]
    for limit in (12, 20, 40):
        now = await rendered("alternatives", limit)
        rows = {
            path_of(elements, row): row
            for row in range(elements["count"])
            if elements["kinds"][elements["kind"][row]] != "omitted"
        }
        for decision in now.decisions:
            told = await one.get(f"/api/views/{view}/element", row=rows[decision.path], limit=limit)
            assert told["included"] is decision.included
            assert told["reason"] == decision.reason
            assert told["tokens"] == decision.tokens
            assert (told["path"], told["label"]) == (decision.path, decision.label)
            assert (told["priority"], told["effective"]) == (decision.priority, decision.effective_priority)
            inside = any(start <= limit and (end is None or limit < end) for start, end in told["ranges"])
            assert inside is decision.included
    relative = (await one.post("/api/open", {"prompt": "relative"}))["view"]
    assert (await one.get(f"/api/views/{relative}/element", row=1, limit=30))["ranges"] is None


async def test_a_report_tells_costs(page: Pages) -> None:
    one = page(prompts=PROMPTS)
    opened = await one.post("/api/open", {"prompt": "chat"})
    told = await one.get(f"/api/views/{opened['view']}/report", limit=opened["total"])
    now = (await rendered("chat", opened["total"])).report
    assert [part["tokens"] for part in told["largest"]] == [part.tokens for part in now.largest]
    assert [(message["tokens"], message["included"]) for message in told["messages"]] == [
        (message.tokens, message.included) for message in now.messages
    ]
    kinds = opened["elements"]["kinds"]
    for message in told["messages"][:-1]:
        assert kinds[opened["elements"]["kind"][message["row"]]] == "message"
    assert (told["other_tokens"], told["shared_tokens"]) == (now.other_tokens, now.shared_tokens)
    other = await one.post("/api/open", {"prompt": "alternatives"})
    reasons = (await one.get(f"/api/views/{other['view']}/report", limit=40))["reasons"]
    paths = {name: [path_of(other["elements"], row) for row in rows] for name, rows in reasons.items()}
    assert "root > 1:first > 1:scope" in paths["not_chosen"]
    assert "root > 3:max > 2:scope" in paths["over_max"]
    assert paths["pair_out"] == []
    too_small = await one.get(f"/api/views/{other['view']}/report", limit=0)
    assert too_small["other_tokens"] == 0


@pytest.mark.parametrize("name", PROMPTS)
async def test_tokens_begin_where_the_tokenizer_says(page: Pages, name: str) -> None:
    one = page(prompts={name: PROMPTS[name]})
    opened = await one.post("/api/open", {"prompt": name})
    told = await one.get(f"/api/views/{opened['view']}/tokens", limit=opened["total"])
    texts = opened["elements"]["text"]
    for row, starts in told["starts"]:
        units = texts[row].encode("utf-16-le")
        assert starts == sorted(set(starts))
        assert all(0 <= start < len(units) // 2 for start in starts)
        for start in starts:  # never between the halves of a pair
            assert (
                not "\udc00"
                <= units[2 * start : 2 * start + 2].decode("utf-16-le", "surrogatepass")
                <= "\udfff"
            )
    if name in ("text", "chat", "alternatives"):
        now = await rendered(name, opened["total"])
        assert told["count"] == now.token_count
        places = sum(len(starts) for _, starts in told["starts"])
        assert places <= told["count"]
        if name != "chat":  # no frames
            assert places == len(set(now.token_offsets()))


async def test_requests_of_each_provider(page: Pages) -> None:
    one = page(prompts=PROMPTS)
    opened = await one.post("/api/open", {"prompt": "chat"})
    path = f"/api/views/{opened['view']}/request"
    now = render(PROMPTS["chat"], token_limit=opened["total"], callbacks=False)
    for provider, request in {
        "openai": now.to_openai(),
        "openai-responses": None,  # takes no stop texts
        "anthropic": now.to_anthropic(max_tokens=now.tokens_remaining),
        "gemini": now.to_gemini(),
        "langchain": now.to_langchain(),
        "messages": now.to_messages(),
        "json": now.to_json(),
    }.items():
        answer = await one.send("GET", path, params={"limit": opened["total"], "provider": provider})
        if request is None:
            assert answer.json()["error"]["kind"] == "prompt"
            continue
        assert answer.json()["request"] == request
    assert await one.error(f"{path}?limit=99&provider=nobody") == (
        404,
        "unknown",
        "no provider 'nobody': it is one of openai, openai-responses, anthropic, gemini, langchain, messages, text, json",
    )
    status, kind, message = await one.error(f"{path}?limit=1&provider=openai")
    assert (status, kind) == (422, "prompt")
    assert message.startswith("the prompt needs ")


async def test_a_comparison_marks_the_first_difference(page: Pages) -> None:
    one = page(prompts={"a": ["x 😀 same ", scope(p=1)["and more"]], "b": ["x 😀 sane ", "tail"]})
    a = (await one.post("/api/open", {"prompt": "a"}))["view"]
    b = (await one.post("/api/open", {"prompt": "b"}))["view"]
    two = {"a": {"view": a, "limit": 50}, "b": {"view": b, "limit": 50}}
    told = (await one.post("/api/compare", two))["difference"]
    assert (told["what"], told["characters"], told["what_text"]) == ("text", 6, "their texts differ")
    assert (told["a"]["row"], told["a"]["offset"]) == (0, 7)  # the emoji has two units
    assert (told["b"]["row"], told["b"]["offset"]) == (0, 7)
    ends = {"a": {"view": a, "limit": 4}, "b": {"view": a, "limit": 50}}
    told = (await one.post("/api/compare", ends))["difference"]
    assert told["a"] is None
    assert told["b"]["path"] == "root > 1:scope > 0:text"
    same = await one.post("/api/compare", {"a": {"view": a, "limit": 50}, "b": {"view": a, "limit": 60}})
    assert same == {"difference": None, "a": {"tokens": same["a"]["tokens"]}, "b": same["a"]}


async def test_pictures_in_requests_are_base64(page: Pages) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
    one = page(prompts={"a": user_message["see ", image(data=picture, dimensions=(4, 4))]})
    view = (await one.post("/api/open", {"prompt": "a"}))["view"]
    for provider in ("openai", "gemini", "anthropic", "messages"):
        told = await one.get(f"/api/views/{view}/request", limit=2_000, provider=provider)
        assert "iVBORw0KGgo" in told["text"], provider
    told = await one.get(f"/api/views/{view}/tokens", limit=2_000)
    assert told["starts"] == [[1, [0, 3]]]


async def test_a_difference_in_a_frame_tells_which(page: Pages) -> None:
    short = [user_message["same"]]
    one = page(
        prompts={
            "a": short,
            "b": [user_message["same more"]],
            "c": [assistant_message["same"]],
            "d": [*short, short],
        }
    )
    views = {name: (await one.post("/api/open", {"prompt": name}))["view"] for name in "abcd"}

    async def difference(b: str) -> Any:
        sides = {"a": {"view": views["a"], "limit": 99}, "b": {"view": views[b], "limit": 99}}
        return (await one.post("/api/compare", sides))["difference"]

    longer = await difference("b")
    assert (longer["a"]["kind"], longer["a"]["edge"], longer["b"]["edge"]) == ("frame", "end", None)
    other = await difference("c")
    assert (other["a"]["edge"], other["b"]["edge"], other["b"]["row"]) == ("start", "start", 0)
    assert (await difference("d"))["b"]["edge"] == "start"


async def test_tokenizers_and_models(page: Pages) -> None:
    one = page(prompts={"text": PROMPTS["text"]})
    usual = await one.post("/api/open", {"prompt": "text"})
    other = await one.post("/api/open", {"prompt": "text", "tokenizer": "o200k_estimate"})
    assert (usual["count_kind"], other["count_kind"]) == ("exact", "estimate")
    assert (usual["tokenizer"], other["tokenizer"]) == ("o200k_base", "o200k_estimate")
    assert (await one.post("/api/open", {"prompt": "text", "model": "gpt-4"}))["tokenizer"] == "cl100k_base"
    status, kind, message = await one.error("/api/open", {"prompt": "text", "tokenizer": "nope"})
    assert (status, kind) == (422, "prompt")
    assert "nope" in message
    assert (await one.error(f"/api/views/{other['view']}/tokens?limit=99"))[:2] == (422, "prompt")


async def test_a_limit_to_begin_with(page: Pages) -> None:
    def own() -> Node:
        return ["a b c d", scope(p=1)[" e f g"]]

    setattr(own, "token_limit", 5)  # noqa: B010 - functions have no such attribute, for a checker
    one = page(prompts={"own": own})
    assert (await one.post("/api/open", {"prompt": "own"}))["position"]["limit"] == 5
    assert (await one.post("/api/open", {"prompt": "own", "limit": 6}))["limit"] == 6


async def test_prompts_that_nothing_can_hold(page: Pages) -> None:
    one = page(
        prompts={"over": ["x", isolate(token_limit=1)["far too long for it"]], "huge": ["x"] * 200_001}
    )
    status, kind, message = await one.error("/api/open", {"prompt": "over"})
    assert (status, kind) == (422, "prompt")
    assert message.startswith("root > 1:isolate needs 5 tokens, over its limit of 1")
    status, kind, message = await one.error("/api/open", {"prompt": "huge"})
    assert (status, kind) == (422, "prompt")
    assert message == "it has 200,001 elements and texts; a page shows at most 200,000"


async def test_very_long_prompts_are_solved_limit_by_limit(
    page: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("priompt_py.web.view.MOST_COUNTED", 10)
    one = page(prompts={"text": PROMPTS["text"]})
    opened = await one.post("/api/open", {"prompt": "text"})
    assert (opened["has_curve"], opened["relative"], opened["least"]) == (False, False, 4)
    for limit in (6, 8, 20):
        now = await rendered("text", limit)
        position = await one.get(f"/api/views/{opened['view']}/at", limit=limit)
        assert (position["used"], position["cutoff"]) == (now.token_count, now.cutoff)
    assert (await one.error(f"/api/views/{opened['view']}/curve"))[:2] == (422, "prompt")
