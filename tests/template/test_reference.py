"""The grammar files, and the page that is made from the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from priompt_py.author.children import is_list, is_mapping
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
    for rule in rules_of(textmate):
        for key in ("match", "begin", "end"):
            re.compile(rule.get(key, ""))
        include = rule.get("include", "source.yaml")
        assert include == "source.yaml" or include[1:] in repository
        assert ("begin" in rule) == ("end" in rule)


def test_the_textmate_grammar_finds_the_end_of_the_raw_tag() -> None:
    textmate = json.loads((ROOT / "grammar" / "priompt.tmLanguage.json").read_text("utf-8"))
    begin = re.compile(textmate["repository"]["raw"]["begin"])
    for tag in (
        "<raw>",
        '<raw whitespace="keep">',
        "<raw a='>' b=\">\" c={x > 1} d >",
        "<raw\n  a={1}\n>",
        "<raw {...x}>",
    ):
        found = begin.match(tag + "<b>}</raw>")
        assert found is not None
        assert found[0] == tag
    assert begin.match("<rawer>") is None
    assert begin.match("<raw-er>") is None


def rules_of(data: Any) -> Iterator[dict[str, Any]]:
    """Everything in the grammar that is an object."""
    inside: Any = ()
    if is_list(data):
        inside = data
    elif is_mapping(data):
        inside = data.values()
        yield dict(data)
    for one in inside:
        yield from rules_of(one)


def test_the_textmate_grammar_knows_the_control_tags() -> None:
    text = (ROOT / "grammar" / "priompt.tmLanguage.json").read_text("utf-8")
    for name in CONTROL:
        assert re.search(rf"[|(]{name}[|)]", text), name
