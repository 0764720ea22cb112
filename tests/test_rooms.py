"""Draws who imports whom in priompt_py, and compares with the picture in docs/architecture.md.

Every import counts: at the top of a module, inside a function, under TYPE_CHECKING, and modules that are named in a
string to be imported later (`import_module("priompt_py.x")`, `"priompt_py.cli.render:command"`).
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "priompt_py"
ARCHITECTURE = ROOT / "docs" / "architecture.md"

# Beside the rooms: the public face re-exports what users hold, `python -m priompt_py` starts the command line.
FACE = "__init__"
MAIN = "__main__"
NOT_IN_FACE = {"cli", "web", "testing"}

# Rooms whose modules may import the packages of an extra as soon as they are imported themselves.
EXTRA_OF_ROOM = {"testing": "testing", "web": "preview"}
IMPORT_NAMES = {"pillow": "PIL", "pyyaml": "yaml"}


class Import(NamedTuple):
    module: str
    line: int
    deferred: bool  # in a function, under TYPE_CHECKING, or named in a string


# ------------------------------------------------------------------------------------------ the allowed picture


def read_picture(text: str) -> dict[str, set[str]]:
    """Which rooms each room may import, from the line `a → b | c → d`: all those of the stages to its left."""
    line = next((line for line in text.splitlines() if line.strip().startswith("errors →")), None)
    assert line is not None, "no line that begins with `errors →`"
    allowed: dict[str, set[str]] = {}
    left: set[str] = set()
    for stage in line.split("→"):
        rooms = {room.strip() for room in stage.split("|")}
        assert all(room.isidentifier() for room in rooms), f"not a list of rooms: {stage!r}"
        assert not rooms & left, f"named twice: {rooms & left}"
        for room in rooms:
            allowed[room] = set(left)
        left |= rooms
    allowed["testing"] = left
    allowed[FACE] = left - NOT_IN_FACE
    allowed[MAIN] = left
    return allowed


# ------------------------------------------------------------------------------------------ the drawn picture


def imports_of(source: str, module: str, *, is_package: bool) -> Iterator[Import]:
    """Every module that `source` imports or names for a later import; names after `from x import` are joined to x."""
    package = module if is_package else module.rpartition(".")[0]

    def absolute(name: str, level: int) -> str:
        if not level:
            return name
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - level + 1])
        return f"{base}.{name}" if name else base

    def visit(node: ast.AST, *, deferred: bool) -> Iterator[Import]:
        match node:
            case ast.Import():
                for alias in node.names:
                    yield Import(alias.name, node.lineno, deferred)
            case ast.ImportFrom():
                base = absolute(node.module or "", node.level)
                for alias in node.names:
                    yield Import(f"{base}.{alias.name}", node.lineno, deferred)
            case ast.Constant(value=str(text)) if re.fullmatch(rf"{PACKAGE}(\.\w+)+(:\w+)?", text):
                yield Import(text.partition(":")[0], node.lineno, deferred=True)
            case ast.Call(args=[ast.Constant(value=str(text)), *_]) if text.startswith("."):
                if ast.unparse(node.func).endswith("import_module"):
                    level = len(text) - len(text.lstrip("."))
                    yield Import(absolute(text.lstrip("."), level), node.lineno, deferred=True)
            case _:
                pass
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        guarded = node.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) else []
        for child in ast.iter_child_nodes(node):
            yield from visit(child, deferred=deferred or is_function or child in guarded)

    return visit(ast.parse(source), deferred=False)


def room_of(module: str, rooms: Mapping[str, object]) -> str:
    """The room that a module of ours belongs to: the first name after the package, else the public face."""
    first = module.split(".")[1] if "." in module else ""
    return first if first in rooms else FACE


def modules(root: Path) -> Iterator[tuple[Path, str, bool]]:
    """Path, dotted name and whether it is a package, for each module under `root/priompt_py`."""
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        yield path, ".".join(parts[:-1] if is_package else parts), is_package


def trespasses(root: Path, allowed: Mapping[str, set[str]]) -> list[str]:
    """One sentence for each import that the picture doesn't allow, and for each module that belongs to no room."""
    found: list[str] = []
    for path, module, is_package in modules(root):
        where = path.relative_to(root).as_posix()
        own = path.relative_to(root / PACKAGE).parts[0].removesuffix(".py")
        if own not in allowed:
            found.append(f"{where}: {own!r} is no room of the picture")
            continue
        for entry in imports_of(path.read_text("utf-8"), module, is_package=is_package):
            if entry.module.split(".")[0] != PACKAGE:
                continue
            room = room_of(entry.module, allowed)
            if room == own or room in allowed[own]:
                continue
            met = "the public face" if room == FACE else room
            may = ", ".join(sorted(allowed[own])) or "nothing of ours"
            found.append(
                f"{where}:{entry.line}: {own} looks into {met} ({entry.module}); it may import {may}"
            )
    return found


# ------------------------------------------------------------------------------------------ other people's packages


def declared_packages(pyproject: str) -> dict[str, set[str]]:
    """Import names per list of dependencies; the core ones under the empty name."""

    def names(requirements: list[str]) -> set[str]:
        found = {re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower() for requirement in requirements}
        return {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in found}

    project = tomllib.loads(pyproject)["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    return {"": names(project["dependencies"])} | {extra: names(extras[extra]) for extra in extras}


def foreign_imports(root: Path, declared: Mapping[str, set[str]]) -> list[str]:
    """One sentence for each import of a package that isn't declared, or is an extra imported too early."""
    anything = set[str]().union(*declared.values())
    kit = declared["testing"]
    found: list[str] = []
    for path, module, is_package in modules(root):
        where = path.relative_to(root).as_posix()
        room = path.relative_to(root / PACKAGE).parts[0]
        early = declared[""] | declared.get(EXTRA_OF_ROOM.get(room, ""), set())
        for entry in imports_of(path.read_text("utf-8"), module, is_package=is_package):
            name = entry.module.split(".")[0]
            if name in sys.stdlib_module_names or name == PACKAGE:
                continue
            if name in kit and room != "testing":
                found.append(f"{where}:{entry.line}: {name} belongs to the testing kit alone")
            elif name not in (anything if entry.deferred else early):
                why = "is imported before it is used" if name in anything else "is declared in no extra"
                found.append(f"{where}:{entry.line}: {name} is no core dependency, and {why}")
    return found


# ------------------------------------------------------------------------------------------ tests of the package


def test_rooms_import_only_to_their_left() -> None:
    assert any(True for _ in modules(ROOT)), "no module found"
    found = trespasses(ROOT, read_picture(ARCHITECTURE.read_text("utf-8")))
    assert not found, "\n".join(["imports that docs/architecture.md doesn't allow:", *found])


def test_packages_are_declared_and_extras_wait() -> None:
    found = foreign_imports(ROOT, declared_packages((ROOT / "pyproject.toml").read_text("utf-8")))
    assert not found, "\n".join(["imports of other packages that are not as declared:", *found])


def test_pytest_plugin_imports_nothing_of_ours_early() -> None:
    plugin = ROOT / "_priompt_pytest.py"
    source = plugin.read_text("utf-8") if plugin.exists() else ""
    early = [e for e in imports_of(source, plugin.stem, is_package=False) if not e.deferred]
    assert [e for e in early if e.module.startswith(PACKAGE)] == []


# ------------------------------------------------------------------------------------------ tests of the drawing

PICTURE = "errors → model → author | tokens → face → cli | web"


def build(root: Path, files: Mapping[str, str]) -> Path:
    for name, source in files.items():
        path = root / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, "utf-8")
    return root


def test_picture_is_read_in_stages() -> None:
    allowed = read_picture(f"# House\n\n```\n{PICTURE}\nmore\n```\n")
    assert allowed["errors"] == set()
    assert allowed["author"] == allowed["tokens"] == {"errors", "model"}
    assert allowed["web"] == {"errors", "model", "author", "tokens", "face"}
    assert allowed["testing"] == allowed["web"] | {"cli", "web"}
    assert allowed[FACE] == {"errors", "model", "author", "tokens", "face"}


@pytest.mark.parametrize(
    ("name", "source", "met"),
    [
        ("model/a.py", "from priompt_py.tokens import bpe", "tokens"),
        ("model/a.py", "import priompt_py.tokens.bpe", "tokens"),
        ("model/a.py", "from priompt_py import tokens", "tokens"),
        ("model/a.py", "from ..tokens import bpe", "tokens"),
        ("model/__init__.py", "from ..tokens import bpe", "tokens"),
        ("model/deep/a.py", "from ...tokens import bpe", "tokens"),
        ("model/a.py", "def f():\n    from priompt_py.face import x", "face"),
        ("model/a.py", "if TYPE_CHECKING:\n    from priompt_py.face import x", "face"),
        ("model/a.py", "m = import_module('priompt_py.face.render')", "face"),
        ("model/a.py", "m = importlib.import_module('..face', __package__)", "face"),
        ("model/a.py", "lazy = {'x': 'priompt_py.cli.main:main'}", "cli"),
        ("author/a.py", "from priompt_py.tokens import bpe", "tokens"),
        ("tokens/a.py", "from priompt_py.author import tags", "author"),
        ("errors.py", "from priompt_py.model import ops", "model"),
        ("face/a.py", "import priompt_py", "the public face"),
        ("face/a.py", "from priompt_py import render", "the public face"),
        ("web/a.py", "from priompt_py.testing import checks", "testing"),
        ("__init__.py", "from priompt_py.cli import main", "cli"),
    ],
)
def test_trespass_is_seen(tmp_path: Path, name: str, source: str, met: str) -> None:
    (found,) = trespasses(build(tmp_path, {name: source}), read_picture(PICTURE))
    assert found.startswith(f"{PACKAGE}/{name}:{source.count(chr(10)) + 1}: ")
    assert f" looks into {met} (" in found


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("face/a.py", "from priompt_py.model import ops\nfrom priompt_py.errors import PromptError"),
        ("face/a.py", "from . import b\nfrom .b import c\nfrom ..tokens import bpe"),
        ("face/a.py", "'''Not like priompt_py.cli, which prints.'''"),
        ("testing/a.py", "from priompt_py.cli import main"),
        ("__init__.py", "from priompt_py.face.render import render"),
        ("__main__.py", "from priompt_py.cli.main import main"),
    ],
)
def test_looking_left_is_fine(tmp_path: Path, name: str, source: str) -> None:
    assert trespasses(build(tmp_path, {name: source}), read_picture(PICTURE)) == []


def test_module_in_no_room_is_named(tmp_path: Path) -> None:
    found = trespasses(build(tmp_path, {"helpers.py": "", "util/a.py": ""}), read_picture(PICTURE))
    assert found == [
        f"{PACKAGE}/helpers.py: 'helpers' is no room of the picture",
        f"{PACKAGE}/util/a.py: 'util' is no room of the picture",
    ]


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        ("model/a.py", "import attrs, json", None),
        ("tokens/a.py", "def f():\n    import tokenizers", None),
        ("tokens/a.py", "import tokenizers", "is imported before it is used"),
        ("tokens/a.py", "import numpy", "is declared in no extra"),
        ("tokens/a.py", "def f():\n    import numpy", "is declared in no extra"),
        ("testing/a.py", "import hypothesis", None),
        ("face/a.py", "def f():\n    import hypothesis", "belongs to the testing kit alone"),
        ("web/a.py", "from starlette.applications import Starlette", None),
    ],
)
def test_foreign_packages(tmp_path: Path, name: str, source: str, fault: str | None) -> None:
    declared = {
        "": {"attrs", "yaml"},
        "testing": {"hypothesis"},
        "preview": {"starlette"},
        "huggingface": {"tokenizers"},
    }
    found = foreign_imports(build(tmp_path, {name: source}), declared)
    assert len(found) == (fault is not None)
    assert all(fault in line for line in found if fault)
