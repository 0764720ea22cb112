from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import pytest

from bench import timing
from bench.peers import measure as measuring
from bench.peers.measure import measure
from bench.peers.ours import data_from
from bench.peers.process import PeerError, Worker
from bench.shapes import Shape, data_of, text_at

ROOT = Path(__file__).parents[2]
PEER = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "sleep" in request:
        time.sleep(request["sleep"])
    if "end" in request:
        break
    print(json.dumps({"error": "no"} if "fail" in request else request), flush=True)
"""


def worker() -> Worker:
    return Worker([sys.executable, "-c", PEER], folder=ROOT)


def test_worker_answers_fails_and_goes_on() -> None:
    with worker() as peer:
        assert peer.ask({"a": 1}, patience=20) == {"a": 1}
        with pytest.raises(PeerError, match=r"^no$"):
            peer.ask({"fail": 1}, patience=20)
        assert peer.ask({"a": 2}, patience=20) == {"a": 2}


def test_worker_that_is_slow_or_ends_is_closed() -> None:
    with worker() as peer:
        with pytest.raises(PeerError, match=r"^more than 0\.2 s$"):
            peer.ask({"sleep": 60}, patience=0.2)
        with pytest.raises(PeerError, match=r"^it ended$"):
            peer.ask({"a": 1}, patience=20)
    with worker() as peer, pytest.raises(PeerError, match=r"^it ended$"):
        peer.ask({"end": 1}, patience=20)


@pytest.fixture(autouse=True)
def no_rounds_but_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "ENOUGH", 0)


@pytest.mark.parametrize("shape", [Shape("lines", 50, 200), Shape("chat", 20, 300), Shape("firsts", 30, 0)])
def test_our_own_rounds(shape: Shape, tmp_path: Path) -> None:
    (tmp_path / "vocabulary.json").write_text("{}")  # only the Python peers need it
    row = measure(shape, ["ours"], rounds=2, patience=60, folder=tmp_path)
    ours = row.results["ours"]
    assert (ours.fault, ours.text) == ("", "same")
    assert ours.tokens is not None
    assert 0 < ours.tokens <= row.limit
    assert [len(times) for times in (ours.build, ours.render, ours.floor_cpu)] == [2, 2, 2]


def test_a_peer_that_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vocabulary.json").write_text("{}")
    commands = measuring.commands(tmp_path / "vocabulary.json")
    commands["original"] = [sys.executable, "-c", "import sys; sys.exit('broken')"]

    def given(_: Path) -> dict[str, list[str]]:
        return commands

    monkeypatch.setattr(measuring, "commands", given)
    row = measure(Shape("lines", 50, 200), ["ours", "original"], rounds=1, patience=60, folder=tmp_path)
    assert attrs.asdict(row.results["original"])["fault"] == "it ended"
    assert len(row.results["ours"].render) == 1


def test_data_survives_json() -> None:
    for shape in (Shape("lines", 5, 10), Shape("chat", 5, 10), Shape("firsts", 9, 0)):
        data = data_of(shape)
        read = data_from(json.loads(json.dumps(data._asdict())))
        assert read.limit == data.limit > 0
        assert text_at(read, 3) == text_at(data, 3) != ""
