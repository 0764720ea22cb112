"""One run through all peers: for each shape every peer is asked by turns."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers.process import PeerError, Worker
from bench.peers.results import PEERS, PeerResult, Row
from bench.shapes import ENCODING, Shape, data_of
from bench.timing import rounds_of
from priompt_py.tokens.encodings import ENCODINGS
from priompt_py.tokens.vocabularies import read_ranks

__all__ = ["commands", "installed", "measure", "write_vocabulary"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "peers"
LOADING = 300  # seconds for whatever is not measured
ABLE: Mapping[str, tuple[str, ...]] = {
    "ours": ("lines", "chat", "firsts"),
    "original": ("lines", "chat", "firsts"),
    "pypriompt": ("lines", "chat", "firsts"),
    "prompt-tsx": ("lines", "chat"),
    "poet": ("lines", "chat"),
}


def commands(vocabulary: Path) -> dict[str, list[str]]:
    """What starts each peer."""
    node = ["node", "--expose-gc"]
    return {
        "ours": [sys.executable, "-m", "bench.peers.ours"],
        "original": [*node, "bench/peers/original.mjs"],
        "pypriompt": [str(FOLDER / "pypriompt/bin/python"), "-m", "bench.peers.pypriompt", str(vocabulary)],
        "prompt-tsx": [*node, "bench/peers/prompt_tsx.mjs"],
        "poet": [str(FOLDER / "poet/bin/python"), "-m", "bench.peers.poet", str(vocabulary)],
    }


def installed() -> list[str]:
    """The peers that are there."""
    needed = {
        "original": FOLDER / "node/node_modules/@impowering/priompt",
        "pypriompt": FOLDER / "pypriompt/bin/python",
        "prompt-tsx": FOLDER / "node/node_modules/@vscode/prompt-tsx",
        "poet": FOLDER / "poet/bin/python",
    }
    return [peer for peer in PEERS if peer not in needed or needed[peer].exists()]


def write_vocabulary(path: Path) -> None:
    """The encoding as a file, for the peers whose tiktoken would fetch it."""
    spec = ENCODINGS[ENCODING]
    ranks = [[base64.b64encode(token).decode(), rank] for token, rank in read_ranks(spec.vocabulary).items()]
    special = dict(spec.special_tokens)
    told = {"name": ENCODING, "pattern": spec.pattern, "special_tokens": special, "ranks": ranks}
    path.write_text(json.dumps(told), "utf-8")


def measure(shape: Shape, peers: Sequence[str], *, rounds: int, patience: float, folder: Path) -> Row:
    """Every peer's rounds of one shape, each by turns with ours, and how its prompt compares with ours.

    There are at least ``rounds`` rounds, after one to warm up that is not counted. ``patience`` is in seconds, for one
    round; a peer that takes longer, or fails, is out. ``folder`` takes the files that peers read and write.
    """
    data = data_of(shape)
    told = folder / "data.json"
    told.write_text(json.dumps(data._asdict()), "utf-8")
    vocabulary = folder / "vocabulary.json"
    if not vocabulary.exists():
        write_vocabulary(vocabulary)
    results = {peer: PeerResult() for peer in peers if shape.kind in ABLE[peer]}
    own = results["ours"]
    with _start("ours", vocabulary) as ours:
        _ask_ours(ours, {"load": str(told)})
        _ask_ours(ours, {"round": 0})
        text = _shown(ours, folder / "shown.txt")
        own.text = difference(text, text)
        for peer, result in results.items():
            if peer == "ours":
                continue
            try:
                with _start(peer, vocabulary) as worker:
                    worker.ask({"load": str(told)}, patience=LOADING)
                    for number in rounds_of(rounds):
                        beside = _ask_ours(ours, {"round": number})
                        answer = worker.ask({"round": number}, patience=patience)
                        if number:
                            result.add(answer)
                            result.add_beside(beside)
                            if peer == "original" or "original" not in results:
                                own.add(beside)
                    result.text = difference(_shown(worker, folder / "shown.txt"), text)
            except PeerError as error:
                result.fault = str(error)
        if not own.render:
            for number in rounds_of(rounds):
                answer = _ask_ours(ours, {"round": number})
                if number:
                    own.add(answer)
    return Row(shape.name, shape.kind, shape.scopes, data.limit, results)


def _start(peer: str, vocabulary: Path) -> Worker:
    environment = {"NODE_ENV": "production", "PYTHONPATH": str(ROOT)}
    return Worker(commands(vocabulary)[peer], folder=ROOT, environment=environment)


def _ask_ours(ours: Worker, request: dict[str, Any]) -> dict[str, Any]:
    """Ask this package; its failure is ours, and ends the run."""
    try:
        return ours.ask(request, patience=LOADING)
    except PeerError as error:
        raise RuntimeError(f"our own rounds: {error}") from error


def _shown(worker: Worker, path: Path) -> str:
    """The contents of a worker's last prompt."""
    worker.ask({"show": str(path)}, patience=LOADING)
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def difference(text: str, ours: str) -> str:
    """How a peer's text compares with ours, in words."""
    if text == ours:
        return "same"
    if ours.endswith(text):
        return f"the last {len(text) / len(ours):.2%} of it"
    if text.endswith(ours):
        return f"it, and {len(text) - len(ours):,} characters before it"
    return f"another, of {len(text):,} characters against {len(ours):,}"
