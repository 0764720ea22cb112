"""What `explain` and `diff` say, word for word, of what their screens don't show."""

from __future__ import annotations

from typing import Any

import pytest

from priompt_py import (
    Node,
    at_most,
    compile_prompt,
    fallback,
    first,
    first_difference,
    image,
    isolate,
    render,
    scope,
    tool_definition,
    user_message,
)
from priompt_py.preview.explanation import table_lines, why_lines
from priompt_py.preview.parting import parting_lines
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()

CHOICE: Node = [
    "ab",
    fallback[scope(name="long")["abcdefgh"], scope(name="mid")["abcd"], scope(name="note")["."]],
]


def said(tree: Node, name: str, limit: int) -> list[str]:
    found = compile_prompt(tree).why(name, token_limit=limit, tokenizer=CHARS)
    return ["".join(text for text, _ in line) for line in why_lines(found, limit)]


@pytest.mark.parametrize(
    ("tree", "name", "limit", "lines"),
    [
        (CHOICE, "mid", 3, ["under the limit of 3: out, below the cutoff; priority base-1; 4 tokens",
                            "it comes in at a limit of 6, 3 more than now; it is in under limits from 6 to 9"]),
        (CHOICE, "note", 3, ["under the limit of 3: in; priority required; 1 token",
                             "it comes in at a limit of 3, the present one; it is in under limits from 3 to 5"]),
        (["ab", first[scope(p=5)["a"], scope(p=3, name="never")["b"]]], "never", 9,
         ["under the limit of 9: out, another alternative is in; priority 3; 0 tokens", "it is in under no limit"]),
        (["ab", at_most(token_limit="0%")[scope(p=5, name="never")["b"]]], "never", 9,
         ["under the limit of 9: out, over its ceiling; priority 5; 1 token", "no limit was found at which it is in"]),
        ([scope(p=5)[scope(p=7, name="inner")["b"]]], "inner", 9,
         ["under the limit of 9: in; priority 5 (its own is 7; what is around it has less); 1 token",
          "it comes in at a limit of 1, 8 less than now"]),
    ],
)  # fmt: skip
def test_why(tree: Node, name: str, limit: int, lines: list[str]) -> None:
    assert said(tree, name, limit)[1:] == [f"  {line}" for line in lines]


def table(tree: Node, limit: int, width: int = 80) -> list[str]:
    program = compile_prompt(tree)
    how: dict[str, Any] = {"token_limit": limit, "tokenizer": CHARS}
    rendered = program.render(**how)
    lines = table_lines(rendered.decisions, program.curve(**how), width, plain=True)
    return ["".join(text for text, _ in line) for line in lines]


def test_a_table() -> None:
    tree: Node = [
        scope(p=5, name="five")["12345"],
        scope(p=9)[isolate(token_limit=2)["x", scope(p=1)["y"], scope(p=0)["z"]]],
        scope(p=3)["abc"],
    ]
    assert table(tree, 8) == [
        "priority       tokens   total  element",
        "       9  in        2       2  root > 1:scope",
        "       9  in        2       2  root > 1:scope > 0:isolate",
        "       1  in        1          root > 1:scope > 0:isolate > 1:scope",
        "       0  out       1          ...:scope > 0:isolate > 2:scope  below the cutoff",
        "       5  in        5       7  five (root > 0:scope[name=five])",
        "-------- cutoff 5, limit 8 -----------------------------------------------------",
        "       3  out       3      10  root > 2:scope  below the cutoff",
    ]


def test_a_table_cut_at_the_base() -> None:
    assert table([user_message["x"], scope(p=1)[user_message["y"]]], 1)[2:3] == [
        "-------- cutoff base, limit 1 --------------------------------------------------"
    ]


def parted(a: Node, b: Node) -> list[str]:
    one, other = (render(tree, token_limit=999, source_map=True, tokenizer=CHARS) for tree in (a, b))
    lines = parting_lines(one, other, first_difference(one, other), ("A", "B"), plain=True)
    return ["".join(text for text, _ in line).strip() for line in lines]


def test_parting() -> None:
    tool = tool_definition(name="t", description="", parameters={})
    assert parted([tool, "x"], ["x"])[3:] == [
        "parting at character 0: their tools differ, which are sent before all else",
        "A: the tool t (root > 0:tool_definition)",
        "B: ends here",
    ]
    url = image(url="https://a.b/c.png", dimensions=(1, 1))
    told = parted([user_message["x\ty", url]], [user_message["x\ty"]])
    assert told[0].startswith("shared  about ")
    assert told[3] == "parting at character 29: their images differ"
    assert told[4].startswith("A: root > 0:user > 1:image, which begins after ")
    assert told[5] == "<|im_start|>user<|im_sep|>x\\ty|<|im_end|><|im_start|>assistant<|im_sep|..."
    assert parted("one", "one two")[3:] == [
        "parting at character 3: their texts differ",
        "A: ends here",
        "one|",
        "B: root > 0:text, which begins after 0 tokens",
        "one| two",
    ]


def test_what_is_in_a_max_stands_with_it() -> None:
    """Its own priority counts within the max, whatever it says."""
    tree: Node = [
        at_most(token_limit=5, p=4)[at_most(token_limit=9, p=7)[scope(p=6)["ab"]]],
        scope(p=5)["12345"],
    ]
    assert table(tree, 5)[1:] == [
        "       5  in        5       5  root > 1:scope",
        "-------- cutoff 5, limit 5 -----------------------------------------------------",
        "       4  out       2       7  root > 0:max  below the cutoff",
        "       4  out       0       7  root > 0:max > 0:max  what is around it is out",
        "       4  out       2       7  ...ax > 0:max > 0:scope  what is around it is out",
    ]


def test_a_narrow_table_is_brief() -> None:
    compiled = compile_prompt(["x", scope(p=4, name="four")[scope["ab"]]])
    how: Any = {"token_limit": 1, "tokenizer": CHARS}
    lines = table_lines(compiled.render(**how).decisions, compiled.curve(**how), 60, plain=True)
    assert ["".join(text for text, _ in line) for line in lines][2:] == [
        "       4  out       2       3  four (root >...  below cutoff",
        "       4  out       2       3  ...] > 0:scope  parent is out",
    ]


def test_a_narrow_parting() -> None:
    a, b = (render(f"{'word ' * 20}{end}", token_limit=999, source_map=True, tokenizer=CHARS) for end in "xy")
    lines = parting_lines(a, b, first_difference(a, b), ("A", "B"), width=40, plain=True)
    assert ["".join(text for text, _ in line) for line in lines][5::2] == [
        "          ...ord word |x",
        "          ...ord word |y",
    ]
