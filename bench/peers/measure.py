"""One run through all peers: for each shape every peer is asked by turns."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.peers.process import PeerError, Worker
from bench.peers.results import PEERS, PeerResult, Row
from bench.shapes import ENCODING, Shape, data_of
from priompt_py.tokens.encodings import ENCODINGS
from priompt_py.tokens.vocabularies import read_ranks

__all__ = ["commands", "installed", "measure", "write_vocabulary"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "peers"
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
    """Every peer's rounds of one shape, and how its prompt compares with ours.

    ``patience`` is in seconds, for one round; a peer that takes longer, or fails, is out. The first round of each is
    to warm up and is not counted. ``folder`` takes the files that peers read and write.
    """
    data = data_of(shape)
    told = folder / "data.json"
    told.write_text(json.dumps(data._asdict()), "utf-8")
    results = {peer: PeerResult() for peer in peers if shape.kind in ABLE[peer]}
    vocabulary = folder / "vocabulary.json"
    if not vocabulary.exists():
        write_vocabulary(vocabulary)
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for peer, result in results.items():
            environment = {"NODE_ENV": "production", "PYTHONPATH": str(ROOT)}
            worker = Worker(commands(vocabulary)[peer], folder=ROOT, environment=environment)
            workers[peer] = stack.enter_context(worker)
            answer = _ask(worker, {"load": str(told)}, result, patience=120)
            if answer is not None:
                _ask(worker, {"round": 0}, result, patience=patience)
        for number in range(1, rounds + 1):
            for peer, result in _alive(results):
                answer = _ask(workers[peer], {"round": number}, result, patience=patience)
                if answer is not None:
                    result.add(answer)
        _compare(results, workers, folder)
    return Row(shape.name, shape.kind, shape.scopes, data.limit, results)


def _alive(results: Mapping[str, PeerResult]) -> Iterator[tuple[str, PeerResult]]:
    return ((peer, result) for peer, result in results.items() if not result.fault)


def _ask(
    worker: Worker, request: dict[str, Any], result: PeerResult, *, patience: float
) -> dict[str, Any] | None:
    try:
        return worker.ask(request, patience=patience)
    except PeerError as error:
        result.fault = str(error)
        return None


def _compare(results: Mapping[str, PeerResult], workers: Mapping[str, Worker], folder: Path) -> None:
    """Ask every peer for its prompt's contents and say how they differ from ours."""
    texts: dict[str, str] = {}
    for peer, result in _alive(results):
        path = folder / f"shown-{peer}.txt"
        if _ask(workers[peer], {"show": str(path)}, result, patience=60) is not None:
            with path.open(encoding="utf-8", newline="") as file:
                texts[peer] = file.read()
            path.unlink()
    ours = texts.get("ours")
    for peer, text in texts.items():
        if ours is not None:
            results[peer].text = difference(text, ours)


def difference(text: str, ours: str) -> str:
    """How a peer's text compares with ours, in words."""
    if text == ours:
        return "same"
    if ours.endswith(text):
        return f"the last {len(text) / len(ours):.2%} of it"
    if text.endswith(ours):
        return f"it, and {len(text) - len(ours):,} characters before it"
    return f"another, of {len(text):,} characters against {len(ours):,}"
