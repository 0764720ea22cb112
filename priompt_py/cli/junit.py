"""Results of tests as JUnit XML, which CI systems show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import attrs

__all__ = ["Result", "junit_xml"]

# Characters that XML 1.0 can't hold, in any form.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@attrs.frozen
class Result:
    """What became of one example. ``state`` is ``passed``, ``failed``, ``broken`` (the prompt's own code failed) or
    ``skipped``; ``text`` says how, ``seconds`` is how long it took."""

    place: str
    name: str
    state: str
    text: str
    seconds: float


_ELEMENTS = {"failed": "failure", "broken": "error", "skipped": "skipped"}


def junit_xml(results: Sequence[Result]) -> str:
    """The file that says so: a suite for each place, a case for each example."""
    root = ET.Element("testsuites", {"name": "priompt test"} | _numbers(results))
    for place in dict.fromkeys(result.place for result in results):
        inside = [result for result in results if result.place == place]
        suite = ET.SubElement(root, "testsuite", {"name": _clean(place)} | _numbers(inside))
        for result in inside:
            case = ET.SubElement(
                suite,
                "testcase",
                classname=_clean(place),
                name=_clean(result.name or "without props"),
                time=f"{result.seconds:.3f}",
            )
            if result.state in _ELEMENTS:
                message = _clean(result.text.partition("\n")[0])
                ET.SubElement(case, _ELEMENTS[result.state], message=message).text = _clean(result.text)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _numbers(results: Sequence[Result]) -> dict[str, str]:
    states = [result.state for result in results]
    return {
        "tests": str(len(results)),
        "failures": str(states.count("failed")),
        "errors": str(states.count("broken")),
        "skipped": str(states.count("skipped")),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
