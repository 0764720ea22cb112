"""What Python gives the template language, and is of no use to it, is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.template.environment import Environment, load_template, parse_template
from priompt_py.template.loader import DictLoader, FileLoader
from priompt_py.template.markup import markup

# Callers without a type checker can give anything.
environment: Any = Environment
load: Any = load_template
parse: Any = parse_template
dict_loader: Any = DictLoader
file_loader: Any = FileLoader


def written(**interpolation: Any) -> Any:
    return SimpleNamespace(strings=("a", "b"), interpolations=(SimpleNamespace(**interpolation),))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: environment(loader="prompts"),
            "Environment() needs a loader, got loader='prompts'; files are loaded by FileLoader(…)",
        ),
        (lambda: environment(loader=3), "Environment() needs a loader, got loader=3"),
        (lambda: environment(bounds=3), "Environment() needs Bounds(…) for bounds, got bounds=3"),
        (lambda: environment(functions=[len]), "Environment() needs a mapping for functions, got a list"),
        (
            lambda: environment(functions={3: len}),
            "Environment() needs names of letters and digits for functions, got 3",
        ),
        (
            lambda: environment(components=len),
            "Environment() needs a mapping for components, got a builtin_function_or_method",
        ),
        (lambda: environment().from_string(3), "a template is a text, got an int"),
        (lambda: environment().from_string(b"a"), "a template is a text, got a bytes; decode it as UTF-8"),
        (lambda: environment().get(3), "the name of a template is a text, got 3"),
        (lambda: parse(None), "a template is a text, got a NoneType"),
        (lambda: load(3), "load_template() needs a path, got 3"),
        (lambda: dict_loader([]), "DictLoader() needs a mapping of names to texts, got a list"),
        (lambda: dict_loader({3: "a"}), "the name of a template is a text, got 3"),
        (
            lambda: environment(loader=dict_loader({"a": 3})).get("a"),
            "a template is a text, got an int",
        ),
        (lambda: file_loader(3), "FileLoader() needs a folder, got 3"),
        (
            lambda: file_loader(__file__),
            f"FileLoader() needs a folder, {__file__} is a file; load_template() reads one",
        ),
        (
            lambda: markup(written()),
            "markup() needs a text or a template string, got a types.SimpleNamespace",
        ),
        (
            lambda: markup(written(value=1, conversion="q")),
            "markup() knows the conversions s, r and a, got 'q'",
        ),
        (
            lambda: markup(written(value=1, format_spec="zz")),
            "markup() can't write an int in the format 'zz'",
        ),
        (
            lambda: markup(written(value=None, format_spec="3")),
            "markup() can't write a NoneType in the format '3'",
        ),
    ],
)
def test_wrong_kinds(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        call()
    assert str(caught.value) == message


def test_a_folder_that_comes_later(tmp_path: Path) -> None:
    loader = FileLoader(tmp_path / "later")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.priompt").write_text("a")
    assert Environment(loader=loader).get("a")() == ["a"]
