from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from priompt_py.tokens.encodings import ENCODINGS
from priompt_py.tokens.vocabularies import SHA256, build, read_blob, read_ranks, read_tokens

SIZES = {"o200k_base": 199_998, "cl100k_base": 100_256, "p50k_base": 50_280, "r50k_base": 50_256}


@pytest.mark.parametrize("name", SHA256)
def test_a_blob_holds_the_text_that_tiktoken_expects(name: str) -> None:
    assert hashlib.sha256(build.unpack(read_blob(name))).hexdigest() == SHA256[name]


@pytest.mark.parametrize("name", SHA256)
def test_ranks_are_those_of_the_text(name: str) -> None:
    ranks = read_ranks(name)
    assert len(ranks) == SIZES[name]
    lines = build.unpack(read_blob(name)).splitlines()
    assert list(ranks.values()) == [int(line.split()[1]) for line in lines]
    assert set(range(256)) == {token[0] for token in ranks if len(token) == 1}


def test_only_p50k_skips_a_rank() -> None:
    skipped = {name: read_tokens(read_blob(name))[1] for name in SHA256}
    assert skipped == {"o200k_base": (), "cl100k_base": (), "p50k_base": (50_256,), "r50k_base": ()}


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_longest_token_has_as_many_bytes_as_declared(name: str) -> None:
    spec = ENCODINGS[name]
    assert max(map(len, read_ranks(spec.vocabulary))) == spec.max_token_bytes == 128


def test_build_writes_the_blobs_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r50k_base.tiktoken").write_bytes(build.unpack(read_blob("r50k_base")))
    (tmp_path / "p50k_base.tiktoken.gz").write_bytes(gzip.compress(build.unpack(read_blob("p50k_base")), 1))
    build.main(tmp_path, tmp_path)
    assert read_tokens((tmp_path / "r50k_base.bin").read_bytes()) == read_tokens(read_blob("r50k_base"))
    assert read_tokens((tmp_path / "p50k_base.bin").read_bytes()) == read_tokens(read_blob("p50k_base"))
    assert capsys.readouterr().out.splitlines()[0] == f"cl100k_base: not in {tmp_path}, left as it is"


def test_build_needs_a_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "priompt_py.tokens.vocabularies.build"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "usage: python -m priompt_py.tokens.vocabularies.build FOLDER"


def test_build_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "o200k_base.tiktoken").write_bytes(b"IQ== 0\n")
    with pytest.raises(SystemExit, match="o200k_base: not the file that tiktoken expects"):
        build.main(tmp_path, tmp_path)
    with pytest.raises(ValueError, match="the ranks don't ascend"):
        build.pack(b"IQ== 1\nIg== 0\n")
