"""All peers in one run.

    bash bench/peers/setup.sh             once: installs the peers into build/peers
    python -m bench.peers.run             every shape, 5 rounds; writes docs/performance_figures.md and performance.svg
    python -m bench.peers.run --quick     two small shapes, 1 round; prints the page and writes nothing
    python -m bench.peers.run --again     writes the page of the last run once more

A peer that isn't installed is left out. The run is kept in build/peers/results.json.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median

from bench.peers.measure import FOLDER, ROOT, installed, measure
from bench.peers.plot import Series, svg
from bench.peers.report import goals, page
from bench.peers.results import NAMES, PEERS, Results, Row, read, write
from bench.shapes import SHAPES, Shape

__all__ = ["main", "picture"]

QUICK = (Shape("lines", 300, 1_000), Shape("chat", 60, 1_000))
PLOT_SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
PLOT_LIMIT = 8_192
SETUP = Path(__file__).with_name("setup.sh")
ORIGINAL = "@impowering/priompt"
KEPT = FOLDER / "results.json"
PAGE, PICTURE = ROOT / "docs" / "performance_figures.md", ROOT / "docs" / "performance.svg"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; exit code 0 whatever the figures say: they are told as they are."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers.run", description="Run all peers.")
    parser.add_argument("--quick", action="store_true", help="small shapes, one round, nothing is written")
    parser.add_argument("--again", action="store_true", help="write the page of the last run")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each shape, at least (5)")
    parser.add_argument("--patience", type=float, default=30, help="seconds a peer may take for a round (30)")
    parser.add_argument("--only", default="", help="shapes whose name holds this")
    parser.add_argument("--no-plot", action="store_true", help="keep the plot of the last run")
    options = parser.parse_args(arguments)
    if options.again:
        save(read(KEPT))
        return 0
    shapes = [shape for shape in (QUICK if options.quick else SHAPES) if options.only in shape.name]
    peers = installed()
    results, load = Results(about(peers, options.rounds), []), os.getloadavg()[2]
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            rounds = 1 if options.quick else options.rounds
            row = measure(shape, peers, rounds=rounds, patience=options.patience, folder=Path(folder))
            results.rows.append(row)
            tell(row)
        if options.no_plot and KEPT.exists():
            results.plot = read(KEPT).plot
        elif not (options.quick or options.only or options.no_plot):
            tired: set[str] = set()
            for size in PLOT_SIZES:
                fresh = [peer for peer in peers if peer not in tired]
                shape = Shape("lines", size, PLOT_LIMIT)
                row = measure(
                    shape, fresh, rounds=options.rounds, patience=options.patience, folder=Path(folder)
                )
                results.plot.append(row)
                tired |= {peer for peer, result in row.results.items() if result.fault}
                tell(row)
    results.about["load"] = (
        f"{load:.1f} to {os.getloadavg()[2]:.1f} processes at a time on {os.cpu_count()} cores"
    )
    if options.quick or options.only:
        print(page(results, plot=PICTURE.name))
    else:
        FOLDER.mkdir(parents=True, exist_ok=True)
        write(results, KEPT)
        save(results)
    return 0


def save(results: Results) -> None:
    """Write the page and the picture, and say which goals were missed."""
    PAGE.write_text(page(results, plot=PICTURE.name), "utf-8")
    if results.plot:
        PICTURE.write_text(picture(results.plot), "utf-8")
    found = list(goals(results))
    print(f"\n{sum(goal.met for goal in found)} of {len(found)} goals met; see {PAGE.relative_to(ROOT)}")
    for goal in found:
        if not goal.met:
            print(f"missed: {goal.name}: {goal.shown}, wanted {goal.wanted}")


def tell(row: Row) -> None:
    """A shape's figures on the terminal."""
    print(row.name, flush=True)
    for peer, result in row.results.items():
        if result.fault or not result.render:
            print(f"  {NAMES[peer]:<12} {result.fault or 'nothing'}", flush=True)
            continue
        figures = f"build {1e3 * median(result.build):8,.1f}  render {1e3 * median(result.render):9,.1f} ms"
        print(
            f"  {NAMES[peer]:<12} {figures}  {row.by_ours(peer, 'render') or 1:6.1f} times ours  {result.text}",
            flush=True,
        )


def picture(rows: Sequence[Row]) -> str:
    """Render times of the plot's rows, and the floor."""
    series = [
        Series(peer, NAMES[peer], points(rows, peer, "render"))
        for peer in PEERS
        if any(peer in row.results for row in rows)
    ]
    series.append(Series("floor", "the floor", points(rows, "ours", "floor"), dashed=True))
    return svg(f"Rendering lines under {PLOT_LIMIT:,} tokens: time against size", series)


def points(rows: Sequence[Row], peer: str, figure: str) -> list[tuple[float, float]]:
    """Scopes and median seconds, where the peer came through."""
    found = [(row.scopes, row.times(peer, figure), row.results.get(peer)) for row in rows]
    return [
        (scopes, median(times)) for scopes, times, result in found if times and result and not result.fault
    ]


def about(peers: Sequence[str], rounds: int) -> dict[str, str]:
    """What it ran on: versions, never the machine's name."""
    told = {
        "priompt_py": f"{version('priompt-py')} on Python {platform.python_version()} with tiktoken {version('tiktoken')}",
        "rounds": f"at least {rounds} of each shape",
    }
    if "original" in peers or "prompt-tsx" in peers:
        node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
        told["Node.js"] = node.stdout.strip().lstrip("v")
    pins = dict(re.findall(r"([@a-z][\w/-]*)(?:@|==)(\d[\w.-]*)", SETUP.read_text("utf-8")))
    tokenizer = "@anysphere/tiktoken-node"
    packages = {
        "original": f"`{ORIGINAL}` {pins[ORIGINAL]} with `{tokenizer}` {pins[tokenizer]} on Node.js",
        "pypriompt": f"`priompt` {pins['priompt']} on the same Python",
        "prompt-tsx": f"`@vscode/prompt-tsx` {pins['@vscode/prompt-tsx']} with the original's tokenizer",
        "poet": f"`prompt-poet` {pins['prompt-poet']} on the same Python, with the older tiktoken that it wants",
    }
    return told | {NAMES[peer]: packages[peer] for peer in peers if peer in packages}


if __name__ == "__main__":
    sys.exit(main())
