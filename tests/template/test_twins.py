"""Each example in Python has a template beside it that renders the same: one test stamped over both."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from priompt_py.face.render import arender
from priompt_py.template.environment import Environment, load_template
from priompt_py.template.format import format_template
from priompt_py.template.lint import lint_source
from priompt_py.template.source import Source

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def document_with_fallbacks(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    licence: str = module.LICENCE.read_text("utf-8")
    return {
        "licence": licence,
        "terms": module.terms_in_force(licence),
        "size": f"{len(licence):,}",
    }, Environment()


def file_around_cursor(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    lines = module.FILE.read_text("utf-8").splitlines(keepends=True)
    props = {"lines": lines, "line": module.CURSOR, "question": module.QUESTION}
    return props, Environment(functions={"number": "{:5}".format})


def long_chat(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    turns: list[dict[str, str]] = []
    for line in module.PLAY.read_text("utf-8").splitlines():
        speaker, _, words = line.partition(": ")
        turns.append({"speaker": speaker, "words": words})
    return {"turns": turns}, Environment()


def pruned_history(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    return {"history": module.history().node}, Environment()


def support_chat(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    return module.props(), Environment()


def tools_and_image(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    return {"chart": module.CHART.read_bytes(), "parameters": module.WEATHER}, Environment()


def async_component(module: ModuleType) -> tuple[dict[str, Any], Environment]:
    return {}, Environment(components={"Note": module.note, "Checked": module.checked})


TWINS: list[tuple[Callable[[ModuleType], tuple[dict[str, Any], Environment]], tuple[int, ...]]] = [
    (document_with_fallbacks, (4_000, 1_000, 100)),
    (file_around_cursor, (30_000, 8_000, 2_000)),
    (long_chat, (10_000, 1_000, 300)),
    (pruned_history, (200, 120)),
    (support_chat, (64_000, 8_000, 2_000)),
    (tools_and_image, (2_000, 560)),
    (async_component, (300, 180)),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("twin", "limits"), TWINS)
async def test_the_twin_renders_the_same(
    twin: Callable[[ModuleType], tuple[dict[str, Any], Environment]], limits: tuple[int, ...]
) -> None:
    module = example(twin.__name__)
    props, environment = twin(module)
    template = load_template(EXAMPLES / f"{twin.__name__}.priompt", environment=environment)
    for limit in limits:
        in_python = module.prompt()
        if hasattr(in_python, "__await__"):
            in_python = await in_python
        python = await arender(in_python, token_limit=limit, model="gpt-4o")
        written = await arender(template(**props), token_limit=limit, model="gpt-4o")
        assert written.to_json() == python.to_json()
        assert [one.label for one in written.decisions if one.label] == [
            one.label for one in python.decisions if one.label
        ]


def test_all_examples_have_twins() -> None:
    assert {twin.__name__ for twin, _ in TWINS} == {path.stem for path in EXAMPLES.glob("*.priompt")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} >= {twin.__name__ for twin, _ in TWINS}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.priompt")), ids=lambda path: path.stem)
def test_the_templates_are_formatted_and_sound(path: Path) -> None:
    text = path.read_text("utf-8")
    assert format_template(text) == text
    python = ("number", "Note", "Checked")
    findings = lint_source(Source(text), Environment())
    assert [one for one in findings if not any(name in one.message for name in python)] == []
