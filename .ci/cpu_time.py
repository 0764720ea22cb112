"""Measures the CPU time that starting takes (user and system, in ms), and fails above the limits.

Run it with the interpreter of an environment in which the package is installed.
"""

import os
import subprocess
import sys
from pathlib import Path

RUNS = 9  # the least of them counts: whatever else the machine does only adds
LIMIT = 150.0
BIN = Path(sys.executable).parent
CASES = {
    "import priompt_py": [sys.executable, "-c", "import priompt_py"],
    "priompt --help": [str(BIN / "priompt"), "--help"],
}


def cpu_ms(command: list[str]) -> float:
    """CPU time of one run."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return 1000 * (usage.ru_utime + usage.ru_stime)


def main() -> int:
    slow = False
    for name, command in CASES.items():
        cpu_ms(command)  # writes what is compiled
        least = min(cpu_ms(command) for _ in range(RUNS))
        slow |= least > LIMIT
        print(f"{name}: {least:.0f} ms of {LIMIT:.0f} ms")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
