"""A registered template: a template that writes its props when it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priompt_py.preview.recording import Recorder
from priompt_py.template.environment import Template

__all__ = ["RecordedTemplate"]


class RecordedTemplate(Template):
    """The same template, with a recorder; as a component too."""

    def __init__(self, template: Template, recorder: Recorder) -> None:
        vars(self).update(vars(template))
        self._recorder = recorder

    def _evaluate(self, props: Mapping[str, Any], children: list[Any]) -> list[Any]:
        self._recorder.record((children,), props)
        return super()._evaluate(props, children)
