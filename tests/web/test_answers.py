"""What failed is told in one form, whatever it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from priompt_py import ArgumentValueError, StructureError, TemplateError
from priompt_py.cli.faults import Fault
from priompt_py.web.answers import Refusal, as_json, failure, json_bytes, number
from priompt_py.web.frames import read_frame, write_frame


def raised(error: BaseException) -> Any:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 - also those that no program catches
        status, body = failure(caught)
    assert status == 422
    return json.loads(body)["error"]


def test_each_kind_of_error() -> None:
    told = raised(ValueError("no <b>luck</b>"))
    assert (told["kind"], told["message"]) == ("prompt", "ValueError: no <b>luck</b>")
    assert told["place"].startswith(f"{__file__}:")
    assert told["traceback"].startswith("Traceback (most recent call last):\n")
    assert raised(ValueError())["message"] == "ValueError"
    assert raised(SystemExit(3))["message"] == "the prompt's code called sys.exit(3)"
    assert raised(json.JSONDecodeError("x", "y", 0))["message"].startswith("json.decoder.JSONDecodeError: x")
    assert raised(StructureError("a message inside a message"))["place"] is None
    noted = ArgumentValueError("no such thing")
    noted.add_note("in root > 0:text")
    told = raised(noted)
    assert (told["message"], told["notes"]) == ("no such thing", ["in root > 0:text"])
    assert told["place"].startswith(f"{__file__}:")
    group = raised(ExceptionGroup("two", [ValueError("a"), KeyError("b")]))
    assert group["message"] == "ExceptionGroup: two (2 sub-exceptions)"
    assert group["notes"] == ["ValueError: a", "KeyError: 'b'"]


def test_what_is_told_has_an_end() -> None:
    error = ValueError("x" * 10_000_000)
    error.__notes__ = ["y" * 6_000] * 200
    told = raised(error)
    assert told["message"] == f"ValueError: {'x' * 4_988}…"
    assert told["notes"] == [f"{'y' * 5_000}…"] * 100
    assert len(told["traceback"]) == 20_000
    refused = json.loads(Refusal(404, "unknown", "no", place="z" * 5_001).answer()[1])
    assert refused["error"]["place"] == f"{'z' * 5_000}…"


def test_templates_tell_their_line() -> None:
    told = raised(TemplateError("no prop q", file="a.priompt", line=2, column=3, source_line="  {q}"))
    assert (told["message"], told["place"]) == ("no prop q", "a.priompt:2:3")
    assert told["notes"] == ["    {q}", "    ^"]
    assert raised(TemplateError("no", file="a.priompt"))["place"] == "a.priompt"


def test_faults_of_the_command_line() -> None:
    told = raised(Fault("is a class", place="app.py:x", notes=["see there"]))
    assert (told["message"], told["place"], told["notes"]) == ("is a class", "app.py:x", ["see there"])
    assert told["traceback"] is None
    fault = Fault("x", place="y")
    fault.__cause__ = ValueError("inside")
    assert raised(fault)["traceback"] is None  # it was raised nowhere


def test_code_that_is_no_python(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError) as caught:
        compile("x = (", "app.py", "exec")
    told = json.loads(failure(caught.value, printed="before")[1])["error"]
    assert told["place"] == "app.py:1"
    assert told["message"].startswith("SyntaxError: ")
    assert told["printed"] == "before"


def test_refusals() -> None:
    status, body = failure(Refusal(404, "unknown", "no", place="x"))
    assert (status, json.loads(body)["error"]["place"]) == (404, "x")


def test_values_and_numbers() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "o" * 5_000

    assert as_json({"a": [1, None]}) == {"json": {"a": [1, None]}}
    assert as_json((1, 2)) == {"repr": "(1, 2)"}
    assert as_json({1: 2}) == {"repr": "{1: 2}"}
    assert as_json(float("nan")) == {"repr": "nan"}
    assert as_json(Odd()) == {"repr": "o" * 2_000 + "…"}
    assert [number(value) for value in (1, 0.5, 2**53, 2**53 + 1, -(2**60), float("-inf"))] == [
        1,
        0.5,
        2**53,
        str(2**53 + 1),
        str(-(2**60)),
        None,
    ]
    assert json_bytes({"a": "é\n"}) == b'{"a":"\xc3\xa9\\n"}'
    assert json_bytes("\ud800") == b'"\\ud800"'


@pytest.mark.parametrize("last", [None, b'{"op": "stop"}'])
def test_the_process_works_over_its_standard_streams(tmp_path: Path, last: bytes | None) -> None:
    """As the server starts it; the input's end is its end."""
    (tmp_path / "t.priompt").write_text("<user>hi</user>", "utf-8")
    argument = json.dumps({"sources": ["t.priompt"], "modules": []})
    process = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "priompt_py.web.child",
            "priompt_py.cli.served:sources_served",
            argument,
        ],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        write_frame(process.stdin, b"", b'{"op": "prompts"}')
        answer = read_frame(process.stdout)
        assert answer is not None
        assert json.loads(answer[0])["status"] == 200
        assert json.loads(answer[1])["prompts"][0]["id"] == "t.priompt"
        if last is None:
            process.stdin.close()
        else:
            write_frame(process.stdin, b"", last)
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
        assert process.stderr is not None
        assert process.stderr.read() == b""
