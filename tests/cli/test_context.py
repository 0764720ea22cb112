"""`priompt context` on files of messages; where in a JSON text a value stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from priompt_py.cli.json_places import offset_of
from priompt_py.model.strict_json import line_and_column
from tests.cli.conftest import Priompt


def call(id_: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "look", "arguments": "{}"}}


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief"},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "let me look", "tool_calls": [call("c1"), call("c2")]},
    {"role": "tool", "tool_call_id": "c1", "content": "found it"},
    {"role": "tool", "tool_call_id": "c9", "content": "stray"},
    {"role": "user", "content": "two"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": "three"},
]


def write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def test_pairs_are_mended(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("context", "chat.json")
    expected = [dict(message) for message in CHAT]
    expected[2]["tool_calls"] = [call("c1")]
    del expected[4]
    assert (done.code, json.loads(done.out)) == (0, expected)
    assert done.err == (
        "chat.json: 8 messages, 7 stay; 58 tokens, then 47\n"
        "  repair_tool_pairs\n"
        '    m2  assistant  unanswered-call   part 2: look (c2), without a result  "let me look"\n'
        '    m4  tool       orphan-result     of call c9  "stray"\n'
    )


def test_old_calls_go(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    found = json.loads(priompt("context", "chat.json", "--keep-tool-rounds", "1", "--quiet").out)
    assert [message["role"] for message in found] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert found[2] == {"role": "assistant", "content": "let me look"}
    stubs = json.loads(
        priompt("context", "chat.json", "--keep-tool-rounds", "0", "--tool-mode", "stub", "--quiet").out
    )
    assert stubs[3]["content"] == "[result left out; call the tool again if it is needed]"
    whole = json.loads(priompt("context", "chat.json", "--keep-tool-rounds", "-1", "--quiet").out)
    assert len(whole) == 7


def test_a_limit_on_messages(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("context", "chat.json", "--max-messages", "2")
    assert [message["content"] for message in json.loads(done.out)] == ["Be brief", "two", "2", "three"]
    assert (
        done.err.splitlines()[2]
        == '    m1  user       over-limit        more than 2 before the last message  "one"'
    )
    sticky = priompt("context", "chat.json", "--max-messages", "5", "--sticky", "--quiet")
    assert [message["content"] for message in json.loads(sticky.out)] == ["Be brief", "two", "2", "three"]


def test_pruning_too(folder: Path, priompt: Priompt) -> None:
    rows = [{"role": "user", "content": f"text {i}", "step": i} for i in range(20)]
    write(folder, "chat.json", rows)
    done = priompt("context", "chat.json", "--prune", "--max-age", "3", "--query", "x")
    assert len(json.loads(done.out)) == 4
    assert done.err.splitlines()[1] == "  prune"


def test_what_fits_a_limit(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("context", "chat.json", "--limit", "40")
    assert [(message["role"], message["content"]) for message in json.loads(done.out)] == [
        ("system", "Be brief"), ("user", "two"), ("assistant", "2"), ("user", "three"),
    ]  # fmt: skip
    assert done.err.splitlines()[-2:] == [
        "  note: left out to fit 40 tokens: m1, m2, m3",
        "  note: 24 of 40 tokens",
    ]
    reserved = priompt("context", "chat.json", "--limit", "40", "--reserve", "17", "--json")
    assert json.loads(reserved.out)["kept"] == ["m0", "m6", "m7"]


def test_long_results_are_cut_to_fit(folder: Path, priompt: Priompt) -> None:
    rows = [dict(message) for message in CHAT]
    rows[3]["content"] = "a line of it\n" * 2_000
    write(folder, "chat.json", rows)
    done = priompt("context", "chat.json", "--limit", "2200")
    result = json.loads(done.out)[3]["content"]
    assert "[...]" in result
    assert "  note: 1 tool result cut to 2,000 tokens" in done.err.splitlines()
    rows[1]["content"] = "hi"
    write(folder, "chat.json", rows)
    noted = priompt("context", "chat.json", "--limit", "200")
    assert "  note: 1 tool result put by a note" in noted.err.splitlines()


def test_what_fits_stands_as_it_stood(folder: Path, priompt: Priompt) -> None:
    rows: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief", "id": "sys", "step": 1},
        {"role": "user", "content": [{"type": "text", "text": "one"}], "pinned": True},
        {"role": "assistant", "content": None, "tool_calls": [call("0")], "refusal": None},
        {"role": "tool", "tool_call_id": "0", "content": "a line of it\n" * 2_000, "step": 2},
        {"role": "assistant", "content": "1", "refusal": None, "annotations": [], "id": "answer"},
        {"role": "assistant", "content": "2", "tool_calls": [call("0")], "step": 3},
        {"role": "tool", "tool_call_id": "0", "content": "found", "step": 3},
        {"role": "user", "content": ""},
    ]
    write(folder, "chat.json", rows)
    done = priompt("context", "chat.json", "--limit", "200", "--quiet")
    again = call("0") | {"id": "0_5"}  # a server that counts its calls from 0 in every answer
    note = "[result left out; call the tool again if it is needed]"
    assert json.loads(done.out) == [
        *rows[:3],
        rows[3] | {"content": note},
        rows[4],
        rows[5] | {"tool_calls": [again]},
        rows[6] | {"tool_call_id": "0_5"},
        rows[7],
    ]


def test_pictures_are_counted(folder: Path, priompt: Priompt) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}}
    write(folder, "chat.json", [{"role": "user", "content": [picture]}])
    for options, tokens in (((), 92), (("--model", "gpt-4o-mini"), 2_840), (("--model", "gpt-5"), 77)):
        done = priompt("context", "chat.json", "--limit", "9000", *options)
        assert done.err == (
            f"chat.json: 1 message, 1 stay; {tokens:,} tokens, then {tokens:,}\n"
            f"  note: {tokens:,} of 9,000 tokens\n"
        )


def test_too_small_a_limit(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("context", "chat.json", "--limit", "5")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("chat.json: the prompt needs 14 tokens, over its limit of 5; ")
    done = priompt("context", "chat.json", "--limit", "0")
    assert done.err.startswith("chat.json: the prompt needs 14 tokens, over its limit of 0; ")


def test_anthropics_form_under_a_limit(folder: Path, priompt: Priompt) -> None:
    request = {
        "model": "m",
        "system": "Be brief",
        "messages": [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {"a": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "found"}, {"type": "text", "text": "two"}]},
        ],
    }  # fmt: skip
    write(folder, "chat.json", request)
    whole = json.loads(priompt("context", "chat.json", "--limit", "500", "--quiet").out)
    assert whole == request
    late = [*request["messages"], {"role": "system", "content": "late"}]
    write(folder, "late.json", late)
    found = json.loads(priompt("context", "late.json", "--limit", "500", "--quiet").out)
    assert found == late
    write(folder, "request.json", {"model": "gpt-4o", "messages": CHAT[:2]})
    openai = json.loads(priompt("context", "request.json", "--limit", "500", "--quiet").out)
    assert openai == {"model": "gpt-4o", "messages": CHAT[:2]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--max-age 3", "priompt: --max-age goes with --prune"),
        ("--whitelist x", "priompt: --whitelist goes with --prune"),
        ("--sticky", "priompt: --sticky goes with --max-messages"),
        ("--reserve 3", "priompt: --reserve goes with --limit"),
        (
            "--max-messages -1",
            "priompt: --max-messages needs a whole number of messages, 0 or more, got '-1'",
        ),
        ("--keep-tool-rounds x", "priompt: --keep-tool-rounds needs a whole number of rounds, got 'x'"),
        (
            "--tool-mode stubs",
            "priompt: --tool-mode needs one of remove, stub, got 'stubs'; did you mean stub?",
        ),
        ("--limit x", "priompt: --limit needs a whole number of tokens, 0 or more, got 'x'"),
    ],
)
def test_wrong_options(folder: Path, priompt: Priompt, options: str, said: str) -> None:
    write(folder, "chat.json", CHAT)
    assert priompt("context", "chat.json", *options.split()) == (2, "", said + "\n")


# ------------------------------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", "{"),
        ("a", "[1,"),
        ("a[0]", "1"),
        ("a[1]", '"x,]}"'),
        ("a[2].b", "{"),
        ("a[2].b.c", "[]"),
        ("a[2].b.c[4]", "[]"),  # as far as there is something
        ("a[9]", "[1,"),
        ("d", "null"),
        ("d.e", "null"),
        ("none", "{"),
    ],
)
def test_places(path: str, value: str) -> None:
    text = '\n { "a" : [1,  "x,]}", {"b": {"c": []}} ] , "d":null}'
    place = offset_of(text, path)
    assert text[place:].startswith(value)
    line, column = line_and_column(text, place)
    assert text.split("\n")[line - 1][column - 1 :].startswith(value)
