"""Tries an installed wheel as a user would: what is in it, and whether it renders, with no network.

python -I smoke.py CHECKOUT, in an empty folder, with the interpreter of the environment that holds the wheel.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import priompt_py

CHECKOUT = Path(sys.argv[1]).resolve()
PACKAGE = Path(priompt_py.__file__).parent
# Nothing may be fetched: every proxy leads nowhere, and tiktoken's own cache is empty.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
ENVIRONMENT = os.environ | OFFLINE | {"TIKTOKEN_CACHE_DIR": str(Path("no-cache").resolve())}

# "Hello world" is 2 tokens of o200k_base, and the tail is one more.
TREE = ["Hello", " world", {"type": "scope", "p": 5, "children": ["!"]}]
MODULE = """
from priompt_py import scope

def greet(name="world"):
    return ["Hello ", name, scope(p=5)["!"]]
"""
TEMPLATE = """---
props:
  name: str = "world"
---
Hello {name}<scope p={5}>!</scope>
"""


def priompt(*arguments: str) -> str:
    """What the command prints."""
    command = [str(Path(sys.executable).parent / "priompt"), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=ENVIRONMENT, check=False)
    check(done.returncode == 0, f"{command}: exit code {done.returncode}: {done.stderr}")
    return done.stdout.rstrip("\n")


def check(condition: object, what: str) -> None:
    if not condition:
        sys.exit(f"smoke: {what}")


def check_contents() -> None:
    check(CHECKOUT not in PACKAGE.parents, f"the checkout's package was imported: {PACKAGE}")
    files = [Path(str(file)) for file in importlib.metadata.files("priompt-py") or []]
    top = {file.parts[0] for file in files if ".." not in file.parts}
    known = {"priompt_py", "_priompt_pytest.py"}
    strangers = {name for name in top if name not in known and not name.endswith(".dist-info")} - {
        "__pycache__"
    }
    check(not strangers, f"the wheel holds {sorted(strangers)}")
    check(not any("tests" in file.parts for file in files), "the wheel holds tests")
    check((PACKAGE / "py.typed").is_file(), "no py.typed")
    check(any(file.name == "LICENSE" for file in files), "no LICENSE")
    for folder, source in {
        "_grammar": CHECKOUT / "grammar",
        "tokens/vocabularies": CHECKOUT / "priompt_py" / "tokens" / "vocabularies",
        "web/static": CHECKOUT / "priompt_py" / "web" / "static",
    }.items():
        wanted = {
            p.relative_to(source) for p in source.rglob("*") if p.is_file() and "__pycache__" not in p.parts
        }
        check(wanted, f"{source} is empty")
        missing = [str(name) for name in wanted if not (PACKAGE / folder / name).is_file()]
        check(not missing, f"priompt_py/{folder} lacks {missing}")


def check_rendering() -> None:
    Path("tree.json").write_text(json.dumps(TREE), "utf-8")
    Path("greeting.py").write_text(MODULE, "utf-8")
    sources = ["tree.json", "greeting.py:greet"]
    if (PACKAGE / "template").is_dir():
        Path("greeting.priompt").write_text(TEMPLATE, "utf-8")
        sources.append("greeting.priompt")
    tokenizer = ["--tokenizer", "o200k_base"]
    for source in sources:
        for limit, text in (("2", "Hello world"), ("3", "Hello world!")):
            printed = priompt("render", source, "--limit", limit, *tokenizer)
            check(printed == text, f"{source} under {limit} tokens renders {printed!r}, not {text!r}")
    shown = json.loads(priompt("render", "tree.json", "--limit", "2", *tokenizer, "--format", "json"))
    check(shown["token_count"] == 2, f"token_count is {shown['token_count']}, not 2")


def check_extras() -> None:
    command = [str(Path(sys.executable).parent / "priompt"), "serve", "--port", "0"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=ENVIRONMENT, check=False)
    said = "priompt: the web preview needs uvicorn: pip install 'priompt-py[preview]'\n"
    check(
        (done.returncode, done.stderr) == (2, said), f"priompt serve without its extra says {done.stderr!r}"
    )


if __name__ == "__main__":
    check_contents()
    check_rendering()
    check_extras()
    version = importlib.metadata.version("priompt-py")
    check(version in priompt("--version"), f"`priompt --version` doesn't say {version}")
    print(f"priompt-py {version} renders from {PACKAGE.name}, found as installed")
