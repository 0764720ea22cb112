"""What is said when the prompt's own code fails, and when ours does."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from priompt_py.cli import props, rendering
from priompt_py.cli.faults import Fault
from tests.cli.conftest import Priompt


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_place_is_the_users_line_not_the_librarys(folder: Path, priompt: Priompt) -> None:
    write(
        folder,
        "p.py",
        "import json\ndef prompt():\n    return read()\ndef read():\n    return json.loads('{')\n",
    )
    done = priompt("render", "p.py:prompt", "--limit", "9")
    assert done.code == 3
    assert done.err.startswith("p.py:5: json.decoder.JSONDecodeError: Expecting property name")


def test_place_in_an_installed_package_where_nothing_else_is_known(
    folder: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(folder / "site-packages"), *sys.path])
    write(folder, "site-packages/prompts_of_others.py", "def prompt():\n    raise ValueError\n")
    done = priompt("render", "prompts_of_others:prompt", "--limit", "9")
    assert done == (3, "", f"{Path('site-packages', 'prompts_of_others.py')}:2: ValueError\n")


def test_no_line_of_the_users_is_known(folder: Path, priompt: Priompt) -> None:
    write(folder, "p.py", "from functools import partial\nprompt = partial(int, 'x')\n")
    done = priompt("render", "p.py:prompt", "--limit", "9")
    assert done == (
        3,
        "",
        (
            "p.py:prompt: ValueError: invalid literal for int() with base 10: 'x'\n"
            "  no line of the prompt's own code was met: --traceback shows where it was raised\n"
        ),
    )


def test_files_elsewhere_have_their_whole_path(
    tmp_path: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "p.py", "def prompt():\n    raise ValueError('x')\n")
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "deeper")
    done = priompt("render", f"{tmp_path}/p.py:prompt", "--limit", "9")
    assert done.err == f"{tmp_path}/p.py:2: ValueError: x\n"


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("EOFError", "EOFError"),
        ("asyncio.CancelledError('stop')", "asyncio.exceptions.CancelledError: stop"),
        ("BrokenPipeError(32, 'gone')", "BrokenPipeError: [Errno 32] gone"),
        ("GeneratorExit", "GeneratorExit"),
        ("SystemExit", "the prompt's code called sys.exit(None)"),
        ("RecursionError('deep')", "RecursionError: deep"),
        ("ExceptionGroup('some', [ValueError('a'), ExceptionGroup('more', [KeyError(1)])])",
         "some (2 errors)\n  p.py:3: ValueError: a\n  p.py:3: more (1 error)\n    p.py:3: KeyError: 1"),
    ],
)  # fmt: skip
def test_whatever_a_prompt_raises(folder: Path, priompt: Priompt, raised: str, said: str) -> None:
    write(folder, "p.py", f"import asyncio\ndef prompt():\n    raise {raised}\n")
    assert priompt("render", "p.py:prompt", "--limit", "9") == (3, "", f"p.py:3: {said}\n")


def test_notes_stand_below(folder: Path, priompt: Priompt) -> None:
    write(
        folder,
        "p.py",
        "def prompt():\n    error = ValueError('x')\n    error.add_note('first\\nsecond')\n    raise error\n",
    )
    assert (
        priompt("render", "p.py:prompt", "--limit", "9").err == "p.py:4: ValueError: x\n  first\n  second\n"
    )


def test_messages_steer_no_terminal(folder: Path, priompt: Priompt) -> None:
    write(folder, "p.py", "def prompt():\n    raise ValueError('\\x1b[2J')\n")
    assert priompt("render", "p.py:prompt", "--limit", "9").err == "p.py:2: ValueError: \\u001b[2J\n"


def test_async_callbacks_of_components(folder: Path, priompt: Priompt) -> None:
    write(
        folder,
        "p.py",
        "from priompt_py import component, scope\n"
        "async def told():\n    print('told')\n"
        "@component\ndef part(children):\n    return scope(p=1, on_include=told)['a part']\n"
        "def prompt():\n    return part()\n",
    )
    assert priompt("render", "p.py:prompt", "--limit", "9") == (0, "a part", "told\n")


def test_a_wrong_argument_in_a_component_is_not_taken_for_an_async_one(
    folder: Path, priompt: Priompt
) -> None:
    write(
        folder,
        "p.py",
        "from priompt_py import component, empty\n"
        "@component\ndef part(children):\n    return {1}\n"
        "def prompt():\n    return part()\n"
        "def reserves():\n    return empty(tokens=lambda count: 1.5)\n",
    )
    done = priompt("render", "p.py:prompt", "--limit", "9")
    assert (done.code, done.err.splitlines()[0]) == (
        3,
        "p.py:prompt: part > 0: a set can't stand in a prompt; write out its text, or give a list",
    )
    done = priompt("render", "p.py:reserves", "--limit", "9")
    assert (done.code, done.err) == (
        3,
        "p.py:reserves: root > 0:empty: its function has to give a whole number of tokens, it gave 1.5 (float)\n",
    )


def test_our_own_fault_is_shown_whole(
    folder: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise AttributeError("ours")

    monkeypatch.setattr(rendering, "read_limit", broken)
    done = priompt("render", "tree.json", "--limit", "9")
    assert done.code == 70
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith(
        "AttributeError: ours\npriompt: this is a fault of priompt itself; please report it with the lines above\n"
    )


@pytest.mark.parametrize("name", ["props.json", "props.yaml"])
def test_props_that_are_nested_too_deeply(folder: Path, name: str) -> None:
    depth = 20_000
    (folder / name).write_text('{"a": ' * depth + "1" + "}" * depth, "utf-8")
    with pytest.raises(Fault) as caught:
        props.read_props(name, [])
    assert str(caught.value) == f"{name}: nested too deeply"


def test_a_value_that_is_nested_too_deeply_is_text(folder: Path) -> None:
    text = "[" * 100_000
    assert props.read_props(None, [f"a={text}"]) == {"a": text}


def test_long_numbers(folder: Path, priompt: Priompt) -> None:
    digits = "9" * 5_000
    assert props.read_props(None, [f"a={digits}"]) == {"a": digits}
    done = priompt("render", "tree.json", "--limit", digits)
    assert done.err == f"priompt: --limit needs a whole number of tokens, 0 or more, got {digits[:20]!r}\n"
    done = priompt(
        "render", "tree.json", "--limit", "9", "--props", json.dumps({"a": 1})[:-1] + f', "b": {digits}}}'
    )
    assert done == (2, "", "--props:1:15: not JSON: a whole number has more than 4,300 digits\n")


def test_files_whose_prompts_cant_be_listed(folder: Path, priompt: Priompt) -> None:
    write(folder, "wrong.py", "def (")
    write(folder, "none.py", "x = 1\ndef _hidden(): ...\n")
    for name in ("wrong.py", "none.py", "missing.py"):
        done = priompt("render", name, "--limit", "9")
        assert done == (2, "", f"priompt: say which prompt in it: {name}:NAME\n")


def test_names_that_no_file_can_have(priompt: Priompt) -> None:
    done = priompt("render", "a\0.json", "--limit", "9")
    assert (done.code, done.err) == (2, "a\\u0000.json: can't be read: embedded null byte\n")
    done = priompt("count", "no/such/folder.txt")
    assert (done.code, done.err) == (2, "no/such/folder.txt: no such file\n")


def test_a_file_that_fails_is_forgotten(folder: Path, priompt: Priompt) -> None:
    write(folder, "p.py", "raise ValueError('at import')\n")
    assert priompt("render", "p.py:prompt", "--limit", "9") == (3, "", "p.py:1: ValueError: at import\n")
    assert "_priompt_source_p" not in sys.modules
