"""The grammar files, and the page that is made from the tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from priompt_py.author.element_table import ELEMENTS
from priompt_py.template import grammar
from priompt_py.template.functions import BUILTINS
from priompt_py.template.reference import reference_page
from priompt_py.template.vocabulary import CONTROL

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date() -> None:
    """Else: python -m priompt_py.template.reference docs/template_reference.md."""
    assert (ROOT / "docs" / "template_reference.md").read_text("utf-8") == reference_page()


def test_the_page_holds_all() -> None:
    page = reference_page()
    for name in [*(element.name for element in ELEMENTS), *CONTROL]:
        assert f"### {name}\n" in page
    for name, function in BUILTINS.items():
        assert f"| `{name}(" in page
        assert function.meaning.endswith((".", ":")), name


def test_the_grammars_are_found_in_a_wheel_too(tmp_path: Path, monkeypatch: Any) -> None:
    assert grammar.grammar_folder() == ROOT / "grammar"
    (tmp_path / "priompt_py" / "_grammar").mkdir(parents=True)
    monkeypatch.setattr(grammar, "_PACKAGE", tmp_path / "priompt_py")
    assert grammar.grammar_folder() == tmp_path / "priompt_py" / "_grammar"


def test_the_textmate_grammar_is_sound() -> None:
    textmate = json.loads((ROOT / "grammar" / "priompt.tmLanguage.json").read_text("utf-8"))
    assert textmate["scopeName"] == "text.priompt"
    assert textmate["fileTypes"] == ["priompt"]
    repository = textmate["repository"]
    stack: list[Any] = [textmate]
    while stack:
        here = stack.pop()
        if isinstance(here, list):
            stack.extend(here)
        elif isinstance(here, dict):
            for key in ("match", "begin", "end"):
                if key in here:
                    re.compile(here[key])
            include = here.get("include", "source.yaml")
            assert include == "source.yaml" or include[1:] in repository
            assert ("begin" in here) == ("end" in here)
            stack.extend(here.values())


def test_the_textmate_grammar_knows_the_control_tags() -> None:
    text = (ROOT / "grammar" / "priompt.tmLanguage.json").read_text("utf-8")
    for name in CONTROL:
        assert re.search(rf"[|(]{name}[|)]", text), name
