"""Reads pytest's report and fails if a suite that must have run did not, or ran only in part.

python suites.py REPORT.xml, from the root of the checkout.
"""

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

# How many tests of each must have passed: one a vector, an example, a page; and the picture of the rooms.
WANTED = {
    "tests.conformance.": len(Path("tests/conformance/vectors.jsonl").read_text("utf-8").splitlines()),
    "tests.examples.test_examples::test_example_prints_what_it_says[": len(
        list(Path("examples").glob("*.py"))
    ),
    "tests.test_docs_snippets::test_page[": 1 + len(list(Path("docs").glob("**/*.md"))),
    "tests.test_rooms::test_rooms_import_only_to_their_left": 1,
}


def main(report: Path) -> int:
    passed: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - a report that pytest has just written
        name = f"{case.get('classname')}::{case.get('name')}"
        outcomes = {child.tag for child in case} & {"skipped", "failure", "error"}
        counter = passed if not outcomes else skipped if outcomes == {"skipped"} else None
        for suite in WANTED:
            if counter is not None and name.startswith(suite):
                counter[suite] += 1
    bad = [suite for suite in WANTED if passed[suite] < max(1, WANTED[suite]) or skipped[suite]]
    for suite, wanted in WANTED.items():
        mark = "  <- too few, or skipped" if suite in bad else ""
        print(
            f"{suite.rstrip('.[')}: {passed[suite]} passed, {skipped[suite]} skipped, {wanted} at least{mark}"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
