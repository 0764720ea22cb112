"""`priompt render`: sources, props, formats, output."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Priompt

TREE = '["Hello", {"type": "scope", "p": 1, "children": [" world"]}]'
CHAT = '[{"type": "system", "children": ["Be brief."]}, {"type": "user", "children": ["Why?"]}]'

PROMPTS = """\
import asyncio
import subprocess
import sys
from priompt_py import component, empty, scope, user_message

import beside

print("imported")

def greet(name="world", **others):
    print("called")
    subprocess.run([sys.executable, "-c", "print('child')"], check=True)
    return ["Hello ", name, "".join(f" {k}={v!r}" for k, v in others.items())]

def own():
    return "own limit"

own.token_limit = 2

def generated():
    yield "one"
    yield scope(p=1)[" two"]

async def waits(name="world"):
    await asyncio.sleep(0)
    return ["Hello ", name]

def holds_async():
    return ["a ", waits(name="b"), scope(p=1)[" c"]]

runs = []

@component
def gives_async(children):
    return waits(name="inner")

def async_inside():
    runs.append(1)
    return ["runs ", len(runs), " ", gives_async()]

def own_loop():
    return looping()

@component
def looping(children):
    return asyncio.run(waits(name="own loop"))

@component
def quoted(children, *, source="nowhere"):
    return ["From ", source]

async def told():
    print("told")

def calls_back():
    return scope(p=1, on_include=told)["with a callback"]

def reserves_async():
    return ["x", empty(tokens=how_many)]

async def how_many(count):
    return count("some words")

NODE = scope(p=1)["a node"]

class Names:
    inner = ["in a class"]
"""


@pytest.fixture
def prompts(folder: Path) -> Path:
    (folder / "prompts.py").write_text(PROMPTS, "utf-8")
    (folder / "beside.py").write_text("", "utf-8")
    (folder / "tree.json").write_text(TREE, "utf-8")
    (folder / "chat.json").write_text(CHAT, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        ("tree.json --limit 1", "Hello"),
        ("tree.json --limit 2", "Hello world"),
        ("prompts.py:greet --limit 9", "Hello world"),
        ("prompts:greet --limit 9", "Hello world"),
        ("prompts.py:greet --limit 9 --set name=Ada", "Hello Ada"),
        ('prompts.py:greet --limit 9 --set name="Ada"', "Hello Ada"),
        ("prompts.py:greet --limit 9 --set name=12", "Hello 12"),
        ("prompts.py:greet --limit 9 --set name=", "Hello "),
        ("prompts.py:greet --limit 9 --set name=NaN", "Hello NaN"),
        ("prompts.py:greet --limit 9 --set name=1e999", "Hello 1e999"),
        ("prompts.py:greet --limit 9 --set name=a=b", "Hello a=b"),
        ('prompts.py:greet --limit 99 --props {"name":"Ada","x":{"a":1}} --set x.b.c=2', "Hello Ada x={'a': 1, 'b': {'c': 2}}"),
        ("prompts.py:greet --limit 99 --set x.b=[1] --set x=[2]", "Hello world x=[2]"),
        ("prompts.py:own", "own limit"),
        ("prompts.py:generated --limit 1", "one"),
        ("prompts.py:waits --limit 9 --set name=you", "Hello you"),
        ("prompts.py:holds_async --limit 9", "a Hello b c"),
        ("prompts.py:async_inside --limit 9", "runs 2 Hello inner"),
        ("prompts.py:own_loop --limit 9", "Hello own loop"),
        ("prompts.py:quoted --limit 9", "From nowhere"),
        ("prompts.py:quoted --limit 9 --set source=Kant", "From Kant"),
        ("prompts.py:calls_back --limit 9", "with a callback"),
        ("prompts.py:reserves_async --limit 3", "x"),
        ("prompts.py:NODE --limit 9", "a node"),
        ("prompts.py:Names.inner --limit 9", "in a class"),
        ("chat.json --limit 99 --format text", ("<|im_start|>system<|im_sep|>Be brief.<|im_end|>"
         "<|im_start|>user<|im_sep|>Why?<|im_end|><|im_start|>assistant<|im_sep|>")),
        ("chat.json --limit 99 --format text --last-message-incomplete",
         "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>Why?"),
        ("tree.json --limit 9 --format tokens", "[13225, 2375]\n"),
        ("tree.json --limit 9 --format tokens --tokenizer cl100k_base", "[9906, 1917]\n"),
        ("tree.json --limit 9 --format tokens --model gpt-4", "[9906, 1917]\n"),
        ("tree.json --limit 9 --format tokens --model gpt-4 --tokenizer o200k_base", "[13225, 2375]\n"),
    ],
)  # fmt: skip
def test_render(prompts: Path, priompt: Priompt, arguments: str, out: str) -> None:
    done = priompt("render", *arguments.split())
    assert (done.code, done.out) == (0, out), done.err


def test_what_prompts_print_goes_to_stderr(prompts: Path, priompt: Priompt) -> None:
    done = priompt("render", "prompts.py:greet", "--limit", "9")
    assert done.out == "Hello world"
    assert done.err == "imported\ncalled\nchild\n"
    assert priompt("render", "prompts.py:calls_back", "--limit", "9").err == "imported\ntold\n"


def test_json_on_standard_input(priompt: Priompt) -> None:
    assert priompt("render", "-", "--limit", "2", stdin=TREE.encode()).out == "Hello world"
    marked = b"\xef\xbb\xbf" + '["你好 😀 é"]\r\n'.encode()
    assert priompt("render", "-", "--limit", "9", stdin=marked).out == "你好 😀 é"
    wrong = priompt("render", "-", "--limit", "9", stdin=b"[")
    assert (wrong.code, wrong.err) == (3, "<stdin>:1:2: the text ends where a value is needed\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("props.json", b'\xef\xbb\xbf{"name": "\xc3\xa9"}'),
        ("props.yaml", "name: é\n".encode()),
        ("props.YML", "# names\r\nname: é\r\n".encode()),
    ],
)
def test_props_from_files(prompts: Path, priompt: Priompt, name: str, content: bytes) -> None:
    (prompts / name).write_bytes(content)
    assert priompt("render", "prompts.py:greet", "--limit", "9", "--props", name).out == "Hello é"


def test_props_from_standard_input(prompts: Path, priompt: Priompt) -> None:
    done = priompt("render", "prompts.py:greet", "--limit", "9", "--props", "-", stdin=b'{"name": "you"}')
    assert done.out == "Hello you"


def test_chats_are_messages_by_default(prompts: Path, priompt: Priompt) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    done = priompt("render", "chat.json", "--limit", "99")
    assert json.loads(done.out) == messages
    assert done.out == json.dumps(messages, indent=2) + "\n"
    assert json.loads(priompt("render", "chat.json", "--limit", "99", "--format", "openai").out) == {
        "messages": messages
    }
    plain = priompt("render", "tree.json", "--limit", "1", "--format", "messages")
    assert json.loads(plain.out) == [{"role": "user", "content": "Hello"}]


def test_requests_of_other_providers(prompts: Path, priompt: Priompt) -> None:
    messages = [{"role": "user", "content": "Why?"}]
    expected: dict[str, object] = {
        "openai-responses": {"instructions": "Be brief.", "input": messages},
        "gemini": {
            "contents": [{"role": "user", "parts": [{"text": "Why?"}]}],
            "config": {"system_instruction": {"parts": [{"text": "Be brief."}]}},
        },
        "langchain": [{"role": "system", "content": "Be brief."}, *messages],
    }
    for form, request in expected.items():
        done = priompt("render", "chat.json", "--limit", "99", "--format", form)
        assert done.out == json.dumps(request, indent=2) + "\n"
    tree = [{"type": "user", "children": ["Why?"]}, {"type": "config", "max_response_tokens": 5}]
    done = priompt("render", "-", "--limit", "99", "--format", "anthropic", stdin=json.dumps(tree).encode())
    assert json.loads(done.out) == {"messages": messages, "max_tokens": 5}


def test_what_a_provider_cannot_hold_is_told(prompts: Path, priompt: Priompt) -> None:
    done = priompt("render", "chat.json", "--limit", "99", "--format", "anthropic")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "chat.json: Anthropic needs max_tokens, the most tokens that the answer may take: say it with "
        "config(max_response_tokens=...), or with max_tokens=...\n"
    )


def test_json_format(prompts: Path, priompt: Priompt) -> None:
    shown = json.loads(priompt("render", "tree.json", "--limit", "1", "--format", "json").out)
    assert shown == {
        "text": "Hello",
        "token_count": 1,
        "tokens_reserved": 0,
        "token_limit": 1,
        "tokens_remaining": 0,
        "cutoff": 1_000_000_000,
        "config": {"stop": None, "max_response_tokens": None, "extra": {}},
    }
    more = json.loads(priompt("render", "tree.json", "--limit", "1", "--format", "json", "--decisions").out)
    (decision,) = [one for one in more.pop("decisions") if one["kind"] == "scope"]
    assert more == shown
    assert decision["path"] == "root > 1:scope"
    assert (decision["included"], decision["reason"], decision["tokens"]) == (False, "below_cutoff", 1)


# ------------------------------------------------------------------------------------------ output files


def test_output_file_is_exact(prompts: Path, priompt: Priompt) -> None:
    (prompts / "tree.json").write_text('["a\\r\\n", "é\\u0000\\u001b[31m"]', "utf-8")
    done = priompt("render", "tree.json", "--limit", "99", "-o", "out.txt")
    assert done == (0, "", "")
    assert (prompts / "out.txt").read_bytes() == "a\r\né\0\x1b[31m".encode()
    assert priompt("render", "tree.json", "--limit", "99", "-o", "-").out == "a\r\né\0\x1b[31m"


def test_output_file_keeps_its_mode_and_is_replaced_whole(prompts: Path, priompt: Priompt) -> None:
    target = prompts / "out.txt"
    target.write_text("old", "utf-8")
    target.chmod(0o640)
    link = prompts / "link.txt"
    link.symlink_to(target)
    with target.open(encoding="utf-8") as before:
        assert priompt("render", "tree.json", "--limit", "1", "-o", "link.txt").code == 0
        assert before.read() == "old"
    assert link.is_symlink()
    assert target.read_text("utf-8") == "Hello"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in prompts.iterdir() if path.name.startswith(".priompt")] == []


def test_new_output_file_has_the_usual_mode(prompts: Path, priompt: Priompt) -> None:
    mask = os.umask(0o027)
    try:
        priompt("render", "tree.json", "--limit", "1", "-o", "out.txt")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((prompts / "out.txt").stat().st_mode) == 0o640


def test_output_stays_as_it_is_when_the_prompt_fails(prompts: Path, priompt: Priompt) -> None:
    (prompts / "out.txt").write_text("old", "utf-8")
    assert priompt("render", "tree.json", "--limit", "0", "-o", "out.txt").code == 1
    assert (prompts / "out.txt").read_text("utf-8") == "old"


def test_output_to_a_device(prompts: Path, priompt: Priompt) -> None:
    assert priompt("render", "tree.json", "--limit", "1", "-o", os.devnull) == (0, "", "")
    assert not Path(os.devnull).is_file()


# ------------------------------------------------------------------------------------------ terminals, modules


def test_two_results_need_two_files(prompts: Path, priompt: Priompt) -> None:
    (prompts / "tree.json").write_text('["a"]', "utf-8")
    one = str(prompts / "out.json")
    done = priompt("render", "tree.json", "--limit", "9", "-o", "out.json", "--source-map", one)
    assert done == (2, "", "priompt: --source-map and -o name the same file, 'out.json'\n")
    assert not (prompts / "out.json").exists()


def test_a_terminal_sees_no_control_characters(
    prompts: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    (prompts / "tree.json").write_text(
        '["a\\tb\\r\\nc\\rd\\u001b[31m\\u009b\\u007f\\u0007\\u202e\\udb40\\udc41é"]', "utf-8"
    )
    assert (
        priompt("render", "tree.json", "--limit", "99").out
        == "a\tb\r\nc\rd\x1b[31m\x9b\x7f\x07\u202e\U000e0041é"
    )
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = "a\tb\r\nc\\u000dd\\u001b[31m\\u009b\\u007f\\u0007\\u202e\\udb40\\udc41é"
    assert priompt("render", "tree.json", "--limit", "99").out == shown + "\n"
    messages = priompt("render", "tree.json", "--limit", "99", "--format", "messages").out
    assert json.loads(messages)[0]["content"] == "a\tb\r\nc\rd\x1b[31m\x9b\x7f\x07\u202e\U000e0041é"
    assert not {"\x9b", "\u202e", "\U000e0041"} & set(messages)


def test_a_file_is_no_main_program_and_dataclasses_work(folder: Path, priompt: Priompt) -> None:
    (folder / "json.py").write_text(
        "from dataclasses import dataclass\n"
        "import json.decoder\n"
        "@dataclass\n"
        "class Page:\n"
        "    text: str\n"
        "def prompt():\n"
        "    return [Page('a page').text, ' of ', __name__]\n"
        "if __name__ == '__main__':\n"
        "    raise SystemExit('run as a program')\n",
        "utf-8",
    )
    done = priompt("render", "json.py:prompt", "--limit", "20")
    assert (done.code, done.out) == (0, "a page of _priompt_source_json"), done.err


def test_a_module_in_a_package(folder: Path, priompt: Priompt) -> None:
    (folder / "package_of_prompts").mkdir()
    (folder / "package_of_prompts" / "parts.py").write_text("NAME = 'a part'\n", "utf-8")
    (folder / "package_of_prompts" / "chat.py").write_text(
        "from . import parts\ndef prompt():\n    return parts.NAME\n", "utf-8"
    )
    assert priompt("render", "package_of_prompts.chat:prompt", "--limit", "9").out == "a part"
    missing = priompt("render", "package_of_prompts.chad:prompt", "--limit", "9")
    assert missing.err == "priompt: no module named 'package_of_prompts.chad' here or where Python looks\n"


def test_traceback_on_request(folder: Path, priompt: Priompt) -> None:
    (folder / "bad.py").write_text("def prompt():\n    raise ValueError('bad')\n", "utf-8")
    plain = priompt("render", "bad.py:prompt", "--limit", "9")
    assert plain == (3, "", "bad.py:2: ValueError: bad\n")
    for arguments in (
        ("render", "bad.py:prompt", "--limit", "9", "--traceback"),
        ("--traceback", "render", "bad.py:prompt", "--limit", "9"),
    ):
        full = priompt(*arguments)
        assert full.code == 3
        assert full.err.startswith("Traceback (most recent call last):\n")
        assert "raise ValueError('bad')" in full.err
        assert full.err.endswith("\nValueError: bad\nbad.py:2: ValueError: bad\n")
