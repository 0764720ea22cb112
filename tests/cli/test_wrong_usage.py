"""What the command line says of wrong invocations, word for word, and with which exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from priompt_py.cli.main import COMMANDS
from tests.cli.conftest import Priompt
from tests.cli.wrong_files import FILES

RENDER_HELP = "(priompt render --help tells more)"
FORMS = (
    "it is one of package.module:prompt, file.py:prompt, a .json file, a .priompt file, "
    "an id that modules of --module or PRIOMPT_MODULES register, or - for a JSON tree"
)

# Arguments, exit code, standard error.
WRONG: list[tuple[str, int, str]] = [
    # --- commands and options
    ("", 2, "priompt: missing command (priompt --help tells more)"),
    (
        "rendr",
        2,
        f"priompt: no command 'rendr'; did you mean render?; it is one of {', '.join(sorted(COMMANDS))}",
    ),
    ("--version2", 2, "priompt: no option --version2; did you mean --version? (priompt --help tells more)"),
    ("render", 2, f"priompt render: needs SOURCE {RENDER_HELP}"),
    ("count", 2, "priompt count: needs FILE (priompt count --help tells more)"),
    (
        "render tree.json --limt 5",
        2,
        f"priompt render: no option --limt; did you mean --limit? {RENDER_HELP}",
    ),
    (
        "render tree.json --limit",
        2,
        f"priompt render: option '--limit' requires an argument {RENDER_HELP}",
    ),
    (
        "render tree.json more.json",
        2,
        f"priompt render: got unexpected extra argument (more.json) {RENDER_HELP}",
    ),
    (
        "render tree.json --decisions=1",
        2,
        f"priompt render: option '--decisions' does not take a value {RENDER_HELP}",
    ),
    (
        "render tree.json --limit 5 --format jsn",
        2,
        "priompt: --format needs one of text, messages, openai, openai-responses, anthropic, gemini, langchain, json, tokens, got 'jsn'; did you mean json?",
    ),
    ("render tree.json --limit 5 --decisions", 2, "priompt: --decisions goes with --format json"),
    # --- limits
    (
        "render tree.json",
        2,
        "tree.json: no token limit: give --limit N, or the prompt a token_limit of its own",
    ),
    (
        "render tree.json --limit many",
        2,
        "priompt: --limit needs a whole number of tokens, 0 or more, got 'many'",
    ),
    (
        "render tree.json --limit -1",
        2,
        "priompt: --limit needs a whole number of tokens, 0 or more, got '-1'",
    ),
    (
        "render tree.json --limit 1.5",
        2,
        "priompt: --limit needs a whole number of tokens, 0 or more, got '1.5'",
    ),
    (
        "render prompts.py:odd_limit",
        3,
        "prompts.py:odd_limit: its token_limit must be a whole number, 0 or more, got 'many'",
    ),
    (
        "render long.json --limit 12",
        1,
        (
            "long.json: the prompt needs 5 tokens and reserves 10, over its limit of 12; the smallest limit that works is 15; "
            "the largest parts that are always in: root > 0:text (5 tokens)"
        ),
    ),
    # --- sources
    ("render nothing.json --limit 5", 2, "nothing.json: no such file"),
    ("render tre.json --limit 5", 2, "tre.json: no such file; did you mean tree.json?"),
    ("render . --limit 5", 2, f"priompt: not a prompt source: '.'; {FORMS}"),
    ("render notes.txt --limit 5", 2, f"priompt: not a prompt source: 'notes.txt'; {FORMS}"),
    ("render what? --limit 5", 2, f"priompt: no such prompt source: 'what?'; {FORMS}"),
    (
        "render chat.priompt --limit 5",
        1,
        (
            "chat.priompt: the prompt needs 8 tokens, over its limit of 5; the smallest limit that works is 8; the largest "
            "parts that are always in: root > 0:user (1 token)"
        ),
    ),
    (
        "render prompts.py --limit 5",
        2,
        (
            "priompt: say which prompt in it: prompts.py:NAME (it has greet, pair, plain, positional, divides, high, leaves, "
            "odd_limit, raises_in_component, fragile, fails_in_callbacks, picture, unsayable)"
        ),
    ),
    (
        "render prompts.py:gret --limit 5",
        2,
        "prompts.py:gret: no 'gret' in it; did you mean greet?",
    ),
    ("render nothing.py:prompt --limit 5", 2, "nothing.py: no such file"),
    (
        "render no_such_module:prompt --limit 5",
        2,
        "priompt: no module named 'no_such_module' here or where Python looks",
    ),
    (
        "render prompts.py:Prompt --limit 5",
        2,
        "prompts.py:Prompt: is a class; a prompt is a function or a node, got Prompt",
    ),
    (
        "render latin.json --limit 5",
        2,
        "latin.json: not UTF-8: byte 0xE9 at offset 5 (line 1); save it as UTF-8",
    ),
    ("render wide.json --limit 5", 2, "wide.json: looks like UTF-16; save it as UTF-8"),
    # --- props
    (
        "render prompts.py:greet --limit 5",
        2,
        "prompts.py:greet: needs the prop name: give --set name=VALUE or --props",
    ),
    (
        "render prompts.py:pair --limit 5",
        2,
        "prompts.py:pair: needs the props left, right: give --set left=VALUE or --props",
    ),
    (
        "render prompts.py:greet --limit 5 --set nme=Ada",
        2,
        "prompts.py:greet: no prop 'nme'; did you mean name?; it takes name, greeting",
    ),
    (
        "render prompts.py:plain --limit 5 --set name=Ada",
        2,
        "prompts.py:plain: no prop 'name'; it takes none",
    ),
    (
        "render prompts.py:positional --limit 5 --set text=x",
        2,
        "prompts.py:positional: props are given by name, and its parameter 'text' can't be",
    ),
    (
        "render prompts.py:NODE --limit 5 --set name=Ada",
        2,
        "priompt: takes no props: prompts.py:NODE is a node, not a function; got name",
    ),
    (
        "render tree.json --limit 5 --set name=Ada",
        2,
        "priompt: takes no props: tree.json is a JSON tree; got name",
    ),
    ("render tree.json --limit 5 --set name", 2, "priompt: --set needs NAME=VALUE, got 'name'"),
    (
        "render tree.json --limit 5 --set a..b=1",
        2,
        "priompt: --set needs a name before '=' and between dots, got 'a..b=1'",
    ),
    (
        "render tree.json --limit 5 --set a=1 --set a.b=2",
        2,
        "priompt: --set a.b: a is a number, not an object",
    ),
    (
        "render tree.json --limit 5 --props name=Ada",
        2,
        "priompt: --props needs JSON that begins with {, a .json or .yaml file, the name of an example or dump, or -, got 'name=Ada'",
    ),
    (
        "render tree.json --limit 5 --props {name:1}",
        2,
        "--props:1:2: not JSON: names stand in double quotes, got 'name'",
    ),
    (
        'render tree.json --limit 5 --props {"a":NaN}',
        2,
        "--props:1:6: not JSON: NaN is no JSON number",
    ),
    (
        'render tree.json --limit 5 --props {"a":1,"a":2}',
        2,
        "--props:1:8: not JSON: the name 'a' stands twice in one object",
    ),
    (
        "render tree.json --limit 5 --props list.json",
        2,
        "list.json: props are an object with a name for each value, got a list",
    ),
    (
        "render tree.json --limit 5 --props props.json",
        2,
        'props.json:1:14: not JSON: a comma or } is needed before "b"',
    ),
    ("render tree.json --limit 5 --props nothing.yaml", 2, "nothing.yaml: no such file"),
    (
        "render tree.json --limit 5 --props latin.json",
        2,
        "latin.json: not UTF-8: byte 0xE9 at offset 5 (line 1); save it as UTF-8",
    ),
    (
        "render tree.json --limit 5 --props props.yaml",
        2,
        "props.yaml:2:6: not YAML: a comma or ] is needed before ':'",
    ),
    ("render tree.json --limit 5 --props keys.yaml", 2, "keys.yaml: props have names, got the key 1"),
    (
        "render tree.json --limit 5 --props run.yaml",
        2,
        (
            "run.yaml:1:7: not YAML: there are no values of !!python/object/apply:os.system: "
            "only plain data can be read"
        ),
    ),
    (
        "render tree.json --limit 5 --props bell.yaml",
        2,
        "bell.yaml:1:8: not YAML: the character '\\x07' is not allowed",
    ),
    (
        "render tree.json --limit 5 --props number.yaml",
        2,
        "number.yaml:1:7: not YAML: a whole number is needed, got 'many'",
    ),
    ("render - --limit 5 --props -", 2, "priompt: standard input can't be both SOURCE and --props"),
    # --- tokenizers
    (
        "render tree.json --limit 5 --tokenizer o200k_bas",
        2,
        "priompt: no tokenizer and no model is named 'o200k_bas' (near: o200k_base, cl100k_base, r50k_base, p50k_base)",
    ),
    (
        "count tree.json --model gpt4o",
        2,
        "priompt: the model 'gpt4o' is not in the table (near: gpt-4o, gpt-4, gpt2, gpt-oss); for a model of your own pass a tokenizer and a limit",
    ),
    # --- output
    (
        "render tree.json --limit 5 -o no/where.txt",
        2,
        "no/where.txt: can't be written: No such file or directory",
    ),
    ("render tree.json --limit 5 -o .", 2, ".: can't be written: Is a directory"),
    (
        "render prompts.py:picture --limit 5000 --format tokens",
        2,
        "prompts.py:picture: images have no token ids; messages[0] (user message) holds some",
    ),
    (
        "render prompts.py:unsayable --limit 5 --format json",
        2,
        "prompts.py:unsayable: config.extra.when can't be written as JSON: <class 'object'> (type)",
    ),
    # --- trees and code that fail
    ("render comma.json --limit 5", 3, 'comma.json:3:3: a comma or ] is needed before "you"'),
    (
        "render kind.json --limit 5",
        3,
        "kind.json: $[1].type: no element is called 'scop'; did you mean 'scope'?",
    ),
    ("render twice.json --limit 5", 3, "twice.json: $[0].p: this key stands here twice"),
    (
        "render nested.json --limit 50",
        3,
        "nested.json: root > 0:user > 0:system: a system message can't stand inside a user message",
    ),
    ("render syntax.py:prompt --limit 5", 3, "syntax.py:1:12: SyntaxError: invalid syntax"),
    (
        "render imports.py:prompt --limit 5",
        3,
        "imports.py:1: ModuleNotFoundError: No module named 'no_such_module_anywhere'",
    ),
    (
        "render needs.py:prompt --limit 5",
        3,
        "needs.py:1: ImportError: cannot import name 'no_such_name' from 'prompts' (FOLDER/prompts.py)",
    ),
    ("render prompts.py:divides --limit 5", 3, "prompts.py:23: ZeroDivisionError: division by zero"),
    (
        "render prompts.py:high --limit 5",
        3,
        "prompts.py:26: scope() needs a number for p, got p='high' (str)",
    ),
    ("render prompts.py:leaves --limit 5", 3, "prompts.py:29: the prompt's code called sys.exit('enough')"),
    (
        "render prompts.py:LIST --limit 5",
        3,
        "prompts.py:LIST: root > 1: a bytes can't stand in a prompt; decode it to text, or use image(data=...)",
    ),
    (
        "render prompts.py:raises_in_component --limit 50",
        3,
        "prompts.py:41: LookupError: no such page\n  nor chapter\n  in root > 1:user > 0:fragile",
    ),
    (
        "render prompts.py:fails_in_callbacks --limit 50",
        3,
        (
            "prompts.py:fails_in_callbacks: several callbacks failed (2 errors)\n"
            "  prompts.py:45: KeyError: 'lost'\n  prompts.py:45: KeyError: 'lost'"
        ),
    ),
    # --- counting
    ("count nothing.txt", 2, "nothing.txt: no such file"),
    ("count .", 2, ".: is a folder, not a file"),
    ("count notes.txt", 2, "notes.txt: not UTF-8: byte 0xE9 at offset 4 (line 2); save it as UTF-8"),
    ("count wide.json", 2, "wide.json: looks like UTF-16; save it as UTF-8"),
]


@pytest.fixture
def files(folder: Path) -> Path:
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.mark.parametrize(
    ("arguments", "code", "message"), WRONG, ids=[line[0] or "nothing" for line in WRONG]
)
def test_wrong_invocation(files: Path, priompt: Priompt, arguments: str, code: int, message: str) -> None:
    done = priompt(*arguments.split())
    assert done.err.replace(str(files), "FOLDER") == f"{message}\n"
    assert (done.code, done.out) == (code, "")


def test_unsafe_yaml_was_not_run(files: Path, priompt: Priompt) -> None:
    (files / "touch.yaml").write_text("name: !!python/object/apply:os.system ['touch made']\n", "utf-8")
    assert priompt("render", "tree.json", "--limit", "5", "--props", "touch.yaml").code == 2
    assert not (files / "made").exists()
