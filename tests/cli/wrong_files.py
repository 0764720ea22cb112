"""The files that the wrong invocations of `test_wrong_usage.py` name; its messages give their lines."""

from __future__ import annotations

__all__ = ["FILES"]

FILES: dict[str, str | bytes] = {
    "tree.json": '["Hello", {"type": "scope", "p": 1, "children": [" world"]}]',
    "comma.json": '[\n  "Hello"\n  "you"\n]',
    "kind.json": '["Hello", {"type": "scop", "children": []}]',
    "twice.json": '[{"type": "scope", "p": 1, "p": 2}]',
    "nested.json": '[{"type": "user", "children": [{"type": "system", "children": ["x"]}]}]',
    "long.json": '["one two three four five", {"type": "empty", "tokens": 10}]',
    "latin.json": '["caf\u00e9"]'.encode("latin-1"),
    "wide.json": '["Hello"]'.encode("utf-16"),
    "list.json": "[1]",
    "props.json": '{"name": "a" "b"}',
    "props.yaml": "name: [1\nother: 2\n",
    "keys.yaml": "1: one\n",
    "run.yaml": "name: !!python/object/apply:os.system ['true']\n",
    "bell.yaml": 'name: "\a"\n',
    "number.yaml": "name: !!int many\n",
    "chat.priompt": "<user>Hello</user>\n",
    "notes.txt": "a\nbc\xe9".encode("latin-1"),
    "prompts.py": """\
import sys
from priompt_py import component, config, image, scope, user_message

NODE = scope["a node"]
LIST = ["a", b"bytes"]

class Prompt:
    pass

def greet(name, greeting="Hello"):
    return [greeting, ", ", name]

def pair(left, right):
    return [left, right]

def plain():
    return "Hello"

def positional(text, /):
    return text

def divides(by=0):
    return 1 / by

def high():
    return scope(p="high")["x"]

def leaves():
    sys.exit("enough")

def odd_limit():
    return "x"

odd_limit.token_limit = "many"

def raises_in_component():
    return [["first"], user_message[fragile["x"]]]

@component
def fragile(children):
    raise LookupError("no such page\\nnor chapter")

def fails_in_callbacks():
    def fail():
        raise KeyError("lost")
    return [scope(p=1, on_include=fail)["a"], scope(p=2, on_include=fail)["b"]]

def picture():
    return user_message[image(url="https://example.org/a.png", dimensions=(10, 10))]

def unsayable():
    return ["x", config(extra={"when": object})]
""",
    "syntax.py": "def prompt(:\n    pass\n",
    "imports.py": "import no_such_module_anywhere\n",
    "needs.py": "from prompts import no_such_name\n",
}
