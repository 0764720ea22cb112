"""`priompt prune` on files of messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Priompt

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief", "step": 0},
    {"role": "user", "content": "Fee: ten euro per month", "step": 1, "id": "d"},
    {"role": "assistant", "content": "Noted", "step": 2},
    {"role": "user", "content": "please check the delivery address twice", "step": 3},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        "step": 3,
    },
    {"role": "tool", "tool_call_id": "c1", "content": "5 Main Street", "step": 3},
    {"role": "user", "content": "please check the delivery address twice", "step": 14},
    {"role": "assistant", "content": "When is the fee due", "step": 14},
    {"role": "user", "content": "The fees rise", "step": 15},
    {"role": "user", "content": "the fees rise!", "step": 15},
    {"role": "assistant", "content": "Так и есть 好的 👍", "step": 15},
    {"role": "user", "content": "Who pays?", "step": 16},
]
REPORT = """\
chat.json: 12 messages, 7 stay; 102 tokens, then 62
  prune
    d    user       restored          defines "fee", m7, m8 speak of it  "Fee: ten euro per month"
    m2   assistant  expired           age 14, over 10  "Noted"
    m3   user       expired           age 13, over 10  "please check the delivery address twice"
    m4   assistant  expired           age 13, over 10
    m5   tool       expired           age 13, over 10  "5 Main Street"
    m9   user       merged            into m8  "the fees rise!"
"""


def write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def test_what_stays_and_why(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("prune", "chat.json")
    assert (done.code, done.err) == (0, REPORT)
    assert json.loads(done.out) == [CHAT[i] for i in (0, 1, 6, 7, 8, 10, 11)]


def test_lines_stay_lines(folder: Path, priompt: Priompt) -> None:
    text = "".join(json.dumps(message) + "\n\n" for message in CHAT)
    done = priompt("prune", "-", "--quiet", stdin=text.encode())
    assert (done.code, done.err) == (0, "")
    assert [json.loads(line) for line in done.out.splitlines()] == [CHAT[i] for i in (0, 1, 6, 7, 8, 10, 11)]
    assert "好的 👍" in done.out


def test_a_chat_on_each_line(folder: Path, priompt: Priompt) -> None:
    rows = [{"model": "m", "messages": CHAT}, {"messages": CHAT[:1]}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "chats.jsonl").write_text(text, "utf-8")
    done = priompt("prune", "chats.jsonl")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [(list(row), len(row["messages"])) for row in found] == [
        (["model", "messages"], 7),
        (["messages"], 1),
    ]
    assert [line for line in done.err.splitlines() if line.startswith("chats")] == [
        "chats.jsonl:1: 12 messages, 7 stay; 102 tokens, then 62",
        "chats.jsonl:2: 1 message, 1 stay; 9 tokens, then 9",
    ]
    report = json.loads(priompt("prune", "chats.jsonl", "--json").out)
    assert [one["place"] for one in report] == ["chats.jsonl:1", "chats.jsonl:2"]


def test_a_request_stays_one(folder: Path, priompt: Priompt) -> None:
    write(folder, "request.json", {"model": "gpt-4o", "messages": CHAT})
    done = priompt("prune", "request.json", "--quiet")
    found = json.loads(done.out)
    assert (found["model"], len(found["messages"])) == ("gpt-4o", 7)


ANTHROPIC: dict[str, Any] = {
    "system": "Be brief",
    "messages": [
        {"role": "user", "content": "old words", "step": 0},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": "x"}},
            ],
            "step": 1,
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "found"},
                {"type": "text", "text": "the price of it"},
            ],
            "step": 2,
        },
        {"role": "assistant", "content": "ten", "step": 3},
        {"role": "user", "content": "What price?", "step": 20},
    ],
}


def test_anthropics_form(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", ANTHROPIC)
    done = priompt("prune", "chat.json")
    assert json.loads(done.out) == {
        "system": "Be brief",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "the price of it"}], "step": 2},
            {"role": "user", "content": "What price?", "step": 20},
        ],
    }
    assert done.err.splitlines()[0] == "chat.json: 7 messages, 3 stay; 67 tokens, then 24"
    all_of_it = priompt("prune", "chat.json", "--max-age", "99", "--quiet")
    assert json.loads(all_of_it.out) == ANTHROPIC


def test_an_answer_of_anthropics_client(folder: Path, priompt: Priompt) -> None:
    answer = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "ten"}],
    }  # fmt: skip
    write(folder, "chat.json", [{"role": "user", "content": "x"}, answer])
    assert json.loads(priompt("prune", "chat.json", "--quiet").out) == [
        {"role": "user", "content": "x"},
        answer,
    ]


def test_options(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)

    def kept(*options: str) -> list[str]:
        kept_ids: list[str] = json.loads(priompt("prune", "chat.json", "--json", *options).out)["kept"]
        return kept_ids

    assert kept() == ["m0", "d", "m6", "m7", "m8", "m10", "m11"]
    assert kept("--passes", "1") == ["m0", "d", "m6", "m7", "m8", "m9", "m10", "m11"]
    assert kept("--min-refs", "4") == ["m0", "m6", "m7", "m8", "m10", "m11"]
    assert kept("--max-age", "1000") == ["m0", "d", "m2", "m3", "m4", "m5", "m7", "m8", "m10", "m11"]
    assert kept("--max-age", "1000", "--ngram", "7") == [
        "m0", "d", "m2", "m3", "m4", "m5", "m7", "m8", "m10", "m11",
    ]  # fmt: skip
    assert kept("--query", "street?")[1:4] == ["d", "m4", "m5"]
    assert kept("--whitelist", "addresses", "--whitelist", "x")[1:3] == ["d", "m3"]
    assert "ngram=2" in priompt("prune", "chat.json", "--ngram", "2").err


def test_demoting(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("prune", "chat.json", "--demote")
    assert json.loads(done.out) == CHAT
    lines = done.err.splitlines()
    assert lines[0] == "chat.json: 12 messages, 12 stay; 102 tokens, then 102"
    assert (
        lines[2]
        == '    d    user       restored          defines "fee", m7, m8 speak of it, at -999,990.5  "Fee: ten euro per month"'
    )
    assert lines[3] == '    m2   assistant  expired           age 14, over 10, at -3,999,998  "Noted"'


def test_the_report_as_json(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("prune", "chat.json", "--json")
    assert done.err == ""
    report = json.loads(done.out)
    assert list(report) == [
        "place", "messages_before", "messages_after", "tokens_before", "tokens_after", "kept", "report", "chat",
    ]  # fmt: skip
    assert (report["messages_before"], report["messages_after"]) == (12, 7)
    assert [one["reason"] for one in report["report"]["passes"][0]["dropped"]] == ["expired"] * 4 + ["merged"]
    assert len(report["chat"]) == 7


def test_a_report_is_a_line_for_each_message(folder: Path, priompt: Priompt) -> None:
    """Nothing in a file can write lines of its own into the report, or turn others around."""
    rows = [{"role": "user", "content": "\u202eold\x1b[2J\n\ntext", "id": "a\n  prune\u2028"}, CHAT[-1]]
    write(folder, "odd\nname.json", rows)
    done = priompt("prune", "odd\nname.json", "--max-age", "0")
    assert done.err.splitlines() == [
        r"odd\u000aname.json: 2 messages, 1 stay; 22 tokens, then 10",
        "  prune",
        r'    a\u000a  prune\u2028  user       expired           age 1, over 0  "\u202eold\u001b[2J text"',
        "  note: positions stand in for steps, since not every message has one",
    ]


def test_halves_of_surrogates_can_be_written(folder: Path, priompt: Priompt) -> None:
    (folder / "chat.json").write_text('[{"role": "user", "content": "a \\ud800 \\ud83d\\ude00"}]', "utf-8")
    assert priompt("prune", "chat.json", "-o", "out.json", "--quiet").code == 0
    text = (folder / "out.json").read_text("utf-8")
    assert '"a \\ud800 \U0001f600"' in text
    assert json.loads(text) == json.loads((folder / "chat.json").read_text("utf-8"))


def test_ids_that_are_given_keep_ours_away(folder: Path, priompt: Priompt) -> None:
    rows = [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "id": "m0"}]
    write(folder, "chat.json", rows)
    done = priompt("prune", "chat.json", "--json")
    assert json.loads(done.out)["kept"] == ["m0_", "m0"]
    several = [dict(ANTHROPIC["messages"][2], id="x"), {"role": "user", "content": "y", "id": "m1"}]
    write(folder, "chat.json", several)
    assert json.loads(priompt("prune", "chat.json", "--json").out)["kept"] == ["x", "m1_", "m1"]


def test_steps_in_part_are_told(folder: Path, priompt: Priompt) -> None:
    write(
        folder, "chat.json", [{"role": "user", "content": "a", "step": 4}, {"role": "user", "content": "b"}]
    )
    assert priompt("prune", "chat.json").err.splitlines()[-1] == (
        "  note: positions stand in for steps, since not every message has one"
    )


def test_output_is_all_or_nothing(folder: Path, priompt: Priompt) -> None:
    write(folder, "chat.json", CHAT)
    (folder / "out.json").write_text("old", "utf-8")
    assert priompt("prune", "chat.json", "-o", "out.json", "--max-age", "x").code == 2
    assert (folder / "out.json").read_text("utf-8") == "old"
    done = priompt("prune", "chat.json", "-o", "out.json")
    assert (done.code, done.out, done.err) == (0, "", REPORT)
    assert len(json.loads((folder / "out.json").read_text("utf-8"))) == 7
    assert sorted(path.name for path in folder.iterdir()) == ["chat.json", "out.json"]
    same = priompt("prune", "chat.json", "-o", "chat.json", "--quiet")
    assert (same.code, len(json.loads((folder / "chat.json").read_text("utf-8")))) == (0, 7)


# ------------------------------------------------------------------------------------------ wrong files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "chat.json: is empty; it needs a list of messages, or a message on each line"),
        ("[1", "chat.json:1:3: not JSON: the text ends within a list; close it with ]"),
        ("5", "chat.json:1:1: needs a list of messages, an object with the list `messages`, or a message on each line"),
        ('{"messages": 5}', "chat.json:1:1: needs a list of messages, an object with the list `messages`, or a message on each line"),
        ("[5]", "chat.json:1:2: a message is an object with a role and content"),
        ('[{"role": "user", "content": "x"},\n {"role": "wizard", "content": "x"}]',
         "chat.json:2:2: messages[1]: needs one of the roles system, developer, user, assistant, tool, got 'wizard' (str)"),
        ('{"messages": [\n{"role": "user", "content": [{"type": "text", "text": 5}]}]}',
         "chat.json:2:55: messages[0].content[0].text: needs text, got 5 (int)"),
        ('{"role": "user", "content": "x"}\n\n{"role": "user", "content": 5}\n',
         "chat.json:3:29: messages[1].content: needs text or a list of parts, got 5 (int)"),
        ('{"role": "user", "content": "x"}\n{"role": "user"\n', "chat.json:2:16: not JSON: the text ends within an object; close it with }"),
        ('{"role": "user", "content": "x"}\nnot json\n', "chat.json:2:1: not JSON: a value is needed, got 'not'; texts stand in double quotes"),
        ('[\n{"role": "user", "content": "x"},\n]', "chat.json:2:33: not JSON: a comma stands before the end; leave it out"),
        ('{"messages": [],\n }', "chat.json:1:16: not JSON: a comma stands before the end; leave it out"),
        ("[,]", "chat.json:1:2: not JSON: a value is needed, got ','"),
        ("[1 2]", "chat.json:1:4: not JSON: a comma or ] is needed before '2'"),
        ('[{"role": "user", "content": "x", "id": 5}]', "chat.json:1:41: id needs a text, got 5"),
        ('[{"role": "user", "content": "x", "id": "a"}, {"role": "user", "content": "x", "id": "a"}]',
         "chat.json:1:86: two messages have the id 'a'"),
        ('[{"role": "user", "content": "x", "step": 1.5}]',
         "chat.json:1:43: Message() needs a whole number or None for step, got step=1.5 (float)"),
        ('[{"role": "user", "content": "x", "pinned": 1}]',
         "chat.json:1:45: Message() needs True or False for pinned, got pinned=1 (int)"),
        ('[{"role": "user", "content": "x", "time": 1}]',
         "chat.json:1:2: messages[0]: has the unknown key 'time'; a user message takes role, content, name"),
        ('[{"role": "user", "content": NaN}]', "chat.json:1:30: not JSON: NaN is no JSON number"),
        ('[{"role": "user",\n "content": "x",\n "content": "y"}]',
         "chat.json:3:2: not JSON: the name 'content' stands twice in one object"),
        (f'[{{"role": "user", "content": "x", "step": {"1" * 5_000}}}]',
         "chat.json:1:43: not JSON: a whole number has more than 4,300 digits"),
        ('{"system": [{"type": "text", "text": 5}], "messages": []}',
         "chat.json:1:38: system[0].text: needs text, got 5 (int)"),
        ('[{"role": "tool", "content": "x"}]',
         "chat.json:1:2: messages[0]: needs tool_call_id, the id of the call that it answers"),
        ("[" * 100_000, "chat.json:1:1: nested too deeply"),
    ],
)  # fmt: skip
def test_wrong_files(folder: Path, priompt: Priompt, text: str, said: str) -> None:
    (folder / "chat.json").write_text(text, "utf-8")
    assert priompt("prune", "chat.json") == (2, "", said + "\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--form gemini", "priompt: --form needs one of openai, anthropic, got 'gemini'"),
        ("--ngram 0", "priompt: --ngram: needs ngram >= 1, got ngram=0"),
        ("--max-age -1", "priompt: --max-age needs a whole number of steps, 0 or more, got '-1'"),
        ("--min-refs x", "priompt: --min-refs needs a whole number of messages, 0 or more, got 'x'"),
        ("--passes 0", "priompt: --passes: needs passes >= 1, got passes=0"),
        ("--tokenizer none", "priompt: no tokenizer"),
    ],
)
def test_wrong_options(folder: Path, priompt: Priompt, options: str, said: str) -> None:
    write(folder, "chat.json", CHAT)
    done = priompt("prune", "chat.json", *options.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(said)


def test_a_blank_term(folder: Path, priompt: Priompt) -> None:
    done = priompt("prune", "chat.json", "--whitelist", " ")
    assert done == (
        2,
        "",
        "priompt: --whitelist: needs texts for whitelist, got whitelist[0]=' ' (str), which is blank\n",
    )


def test_the_form_can_be_given(folder: Path, priompt: Priompt) -> None:
    write(
        folder,
        "chat.json",
        [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "c", "content": "x"}],
    )
    assert priompt("prune", "chat.json", "--form", "anthropic").err == (
        "chat.json:1:36: messages[1]: needs one of the roles user, assistant, system, got 'tool' (str)\n"
    )
