"""The reference page of templates, made from the tables: it can't differ from what templates take.

``python -m priompt_py.template.reference docs/template_reference.md`` writes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from priompt_py.author.element_table import ELEMENTS, Argument, ElementInfo
from priompt_py.template.bounds import Bounds
from priompt_py.template.functions import BUILTINS
from priompt_py.template.vocabulary import CONTROL, MESSAGES, TRANSPARENT, Control

__all__ = ["reference_page"]

_HEAD = """\
<!-- Made by `python -m priompt_py.template.reference docs/template_reference.md`: change the tables, not this page. -->

# Templates: reference

All tags, functions and bounds of the template language. [Templates](templates.md) tells how they go together.
"""

_MEANT_FOR_LINES = {
    "closed": "closed: its content starts at no indentation, and loses the line break at its end",
    "transparent": "transparent: its content goes on with the lines and the indentation around it",
    "void": "void: a line of such tags alone leaves nothing behind",
    "content": "content: it stands on its line as inserted text does",
}


def reference_page() -> str:
    """The page as Markdown."""
    parts = [_HEAD, "## Elements\n"]
    parts.append(
        "Every element that takes content takes `whitespace` too: `default`, `jsx` or `keep`. A quoted number is a "
        "number where one is wanted.\n"
    )
    parts += [_element(element) for element in ELEMENTS]
    parts.append("## Tags of the language\n")
    parts += [_control(control) for control in CONTROL.values()]
    parts.append("## Functions and filters\n")
    parts.append(
        "Each can be called, `upper(name)`, and be used as a filter, which gives it the value first: `name | upper`.\n"
    )
    parts.append(_functions())
    parts.append("## Bounds\n")
    parts.append("The most that one evaluation may do, as `Environment(bounds=Bounds(steps=…))` sets it.\n")
    parts.append(_bounds())
    return "\n".join(parts)


def _sort(name: str, *, is_void: bool) -> str:
    if name in MESSAGES or name == "component":
        return "closed"
    if name in TRANSPARENT:
        return "transparent"
    return "content" if name in ("children", "excerpt") or not is_void else "void"


def _element(element: ElementInfo) -> str:
    meaning = element.meaning[0].upper() + element.meaning[1:]
    sort = _MEANT_FOR_LINES[_sort(element.name, is_void=element.is_void)]
    lines = [
        f"### {element.name}\n",
        f"{meaning}. In Python it is `{element.tag}`. On its line it is {sort}.\n",
    ]
    lines += ["| attribute | type | default | meaning |", "|---|---|---|---|"]
    lines += [_argument(argument) for argument in element.arguments]
    return "\n".join([*lines, ""])


def _argument(argument: Argument) -> str:
    if argument.required:
        default = "required"
    elif argument.default is None or argument.default == ():
        default = ""
    else:
        default = f"`{argument.default!r}`"
    return f"| `{argument.name}` | {argument.type} | {default} | {argument.meaning} |"


def _control(control: Control) -> str:
    written = f"<{control.name}/>" if control.is_void else f"<{control.name}>"
    meaning = control.meaning[0].upper() + control.meaning[1:]
    sort = _MEANT_FOR_LINES[_sort(control.name, is_void=control.is_void)]
    lines = [f"### {control.name}\n", f"`{written}`: {meaning}. On its line it is {sort}.\n"]
    if control.arguments:
        kinds = {
            "name": "a name",
            "text": "text",
            "value": "an expression",
            "component": "a component's name",
        }
        lines += ["| attribute | what it is | | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{one.name}` | {kinds[one.kind]} | {'required' if one.required else ''} | {one.meaning} |"
            for one in control.arguments
        ]
        lines.append("")
    return "\n".join(lines)


def _functions() -> str:
    lines = ["| function | gives |", "|---|---|"]
    lines += [
        f"| `{one.written}` | {one.meaning} |" for one in sorted(BUILTINS.values(), key=lambda one: one.name)
    ]
    return "\n".join([*lines, ""])


def _bounds() -> str:
    meanings = {
        line.split("``")[1]: line.split(": ", 1)[1].rstrip(".")
        for line in (Bounds.__doc__ or "").splitlines()
        if line.strip().startswith("* ``")
    }
    given = Bounds()
    lines = ["| bound | default | counts |", "|---|---|---|"]
    lines += [f"| `{name}` | {getattr(given, name):,} | {meaning} |" for name, meaning in meanings.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference_page(), "utf-8")
