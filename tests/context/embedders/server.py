"""A local server of OpenAI's embeddings interface, whose answers are made of the official client's own types."""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_type_hints

import attrs
from openai.types import CreateEmbeddingResponse, EmbeddingCreateParams
from openai.types.create_embedding_response import Usage
from openai.types.embedding import Embedding

__all__ = ["Said", "Server", "serving", "vector_of"]

KNOWN = set(get_type_hints(EmbeddingCreateParams))


def vector_of(text: str, dim: int = 3) -> list[float]:
    """Tells texts apart: their length, their first character, and 1."""
    return [float(len(text)), float(ord(text[:1] or " ")), *[1.0] * (dim - 2)]


@attrs.frozen
class Said:
    """An answer: bytes as they are, or data as JSON. ``pause`` is in seconds, before it and between its two halves."""

    body: Any
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict[str, str])
    pause: float = 0.0
    cut: bool = False  # the connection is closed after the first half

    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Server(ThreadingHTTPServer):
    """Answers with ``answers``, one a request; when they are used up, as an embedder would."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Said | Callable[[dict[str, Any]], Said]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def inputs(self) -> list[list[str]]:
        return [request["input"] for request in self.requests]

    def answer(self, request: dict[str, Any]) -> Said:
        with self.lock:
            self.requests.append(request)
            given = self.answers.pop(0) if self.answers else embedded
        return given if isinstance(given, Said) else given(request)


def embedded(request: dict[str, Any]) -> Said:
    """What OpenAI's server says: base64 if asked for, shorter vectors if asked for."""
    vectors = [vector_of(text, request.get("dimensions", 3)) for text in request["input"]]
    return Said(answer_of(vectors, request["model"], as_text=request.get("encoding_format") == "base64"))


def answer_of(
    vectors: Sequence[Sequence[float]], model: str = "m", *, as_text: bool = False
) -> dict[str, Any]:
    rows = [Embedding(embedding=list(v), index=i, object="embedding") for i, v in enumerate(vectors)]
    usage = Usage(prompt_tokens=1, total_tokens=1)
    answer = CreateEmbeddingResponse(data=rows, model=model, object="list", usage=usage).model_dump()
    if as_text:
        for row in answer["data"]:
            floats = struct.pack(f"<{len(row['embedding'])}f", *row["embedding"])
            row["embedding"] = base64.b64encode(floats).decode()
    return answer


class _Handler(BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.paths.append(self.path)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        request = json.loads(body)
        assert set(request) <= KNOWN
        self._say(self.server.answer(request))

    def do_GET(self) -> None:
        self.server.paths.append(f"GET {self.path}")
        self._say(Said({"data": []}))

    def _say(self, said: Said) -> None:
        data = said.data()
        time.sleep(said.pause)
        try:
            self.send_response(said.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            if said.cut:
                return
            time.sleep(said.pause)
            self.wfile.write(data[len(data) // 2 :])
        except OSError:  # the other side has gone
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that is overridden
        """Nothing."""


@contextmanager
def serving() -> Generator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
