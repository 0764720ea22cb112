"""Files that are made from the element table. `python tests/author/generated.py` writes them anew."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- from the element table -->\n", "<!-- end of the table -->\n"


def files() -> dict[Path, str]:
    """Each file with the text that it must have."""
    from priompt_py.author.element_table import markdown_table
    from priompt_py.author.json_schema import schema_text

    page = ROOT / "docs" / "elements.md"
    head, _, rest = page.read_text("utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    return {
        ROOT / "grammar" / "prompt-tree.schema.json": schema_text(),
        page: f"{head}{BEGIN}\n{markdown_table()}{END}{tail}",
    }


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
