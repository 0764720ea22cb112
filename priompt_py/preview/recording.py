"""Writing the props of a run: what happens beside a registered prompt's call, and never in its way.

Whatever fails while a dump is made (props without a JSON form, a hook that raises, a full disk) is told once by the
logger ``priompt_py.preview``, and the prompt runs as if nothing had been.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs

from priompt_py.errors import SourceError
from priompt_py.preview.decode import hints_of_function
from priompt_py.preview.dumps import write_dump
from priompt_py.preview.encode import DO_NOT_DUMP, RefusedError, encode, strip
from priompt_py.preview.hints import ANY, Options
from priompt_py.preview.json_kinds import is_array, is_object
from priompt_py.preview.no_return import ON_RETURN

__all__ = ["VARIABLE", "Dehydrate", "Recorder", "Redact", "dump_text", "folder_of_dumps", "without_dumps"]

VARIABLE = "PRIOMPT_DUMP"
"""The environment variable with the folder of dumps; set and empty, nothing is dumped."""

Dehydrate: TypeAlias = "Callable[[dict[str, Any]], Mapping[str, Any]]"
"""Makes of the props what is to be dumped."""

Redact: TypeAlias = (
    "Callable[[tuple[str | int, ...], str | int | float | bool | None], str | int | float | bool | None]"
)
"""Makes of a path from the props, and the JSON value there, the value that is written."""

_log = logging.getLogger("priompt_py.preview")
_off: contextvars.ContextVar[bool] = contextvars.ContextVar("priompt_dumps_off", default=False)
_told: set[tuple[str, str]] = set()
_lock = threading.Lock()
_MOST_TOLD = 1_000  # messages, each once; a program that runs for months shouldn't gather them


@contextlib.contextmanager
def without_dumps() -> Generator[None]:
    """Write no dumps meanwhile, in this thread or task: a replay is no run."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def folder_of_dumps(own: Path | Literal[False] | None) -> Path | None:
    """Where the dumps of a prompt go: ``own`` is its setting. The environment goes before a folder, False before both."""
    if own is False:
        return None
    given = os.environ.get(VARIABLE)
    if given is not None:
        return Path(given) if given else None
    return own if isinstance(own, Path) else None


@attrs.frozen(eq=False, kw_only=True)
class Recorder:
    """Writes the dumps of one prompt. ``takes_children`` is for components, whose first parameter takes them."""

    id: str
    function: Callable[..., Any]
    signature: inspect.Signature
    takes_children: bool = False
    dump: Path | Literal[False] | None = None
    dehydrate: Dehydrate | None = None
    redact: Redact | None = None

    def record(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Write the arguments of a call as a dump, if dumps are wanted. Raises nothing."""
        if _off.get():
            return
        try:
            folder = folder_of_dumps(self.dump)
            if folder is not None:
                props = self._props(args, kwargs)
                if props is not None:
                    write_dump(folder, self.id, self.text(props))
        except (RefusedError, SourceError) as error:
            self._tell(str(error))
        except OSError as error:
            self._tell(f"can't be written: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - a user's hook, constructor or repr; the run goes on
            self._tell(f"{type(error).__name__}: {error}")

    def text(self, props: dict[str, Any]) -> str:
        """The dump of these props. Raises RefusedError, and what hooks raise."""
        hints = hints_of_function(self.function) if self.dehydrate is None else dict[str, Options]()
        if self.dehydrate is not None:
            props = dict(self.dehydrate(props))
        return dump_text(
            {
                name: encode(value, hints.get(name, ANY), (name,))
                for name, value in props.items()
                if not name.startswith(DO_NOT_DUMP)
            },
            self.redact,
        )

    def _props(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name; None for a call that doesn't fit, which fails by itself."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            return None
        props: dict[str, Any] = {}
        for position, (name, value) in enumerate(bound.arguments.items()):
            parameter = self.signature.parameters[name]
            if self.takes_children and position == 0:
                if value:  # a list of nodes, or a tuple where the parameter is *children
                    props[name] = _children(value, parameter)
            elif parameter.kind is parameter.VAR_KEYWORD:
                props.update(value)
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                if value or parameter.kind is parameter.POSITIONAL_ONLY:
                    raise RefusedError((name,), "props are given by name, and this one can't be")
            else:
                props[name] = value
        props.pop(ON_RETURN, None)  # run() gives it: no prop, and a replay has its own
        return props

    def _tell(self, problem: str) -> None:
        # Paths in a list differ from run to run ("pages[3]"), and their message is one.
        key = (self.id, re.sub(r"\d+", "#", problem))
        with _lock:
            if key in _told or len(_told) >= _MOST_TOLD:
                return
            _told.add(key)
        with contextlib.suppress(Exception):  # a handler of the user's that raises
            _log.warning("no dump of the prompt %s: %s", self.id, problem)


def _children(value: Any, parameter: inspect.Parameter) -> list[Any]:
    return list(value[0]) if parameter.kind is parameter.VAR_POSITIONAL else list(value)


def dump_text(data: Mapping[str, Any], redact: Redact | None = None) -> str:
    """The text of a dump: a JSON object with a line for each prop. Raises RefusedError for what is no JSON."""
    clean = strip(dict(data))
    if redact is not None:
        clean = {name: _redacted(value, (name,), redact) for name, value in clean.items()}
    lines: list[str] = []
    for name, value in clean.items():
        try:
            shown = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise RefusedError((name,), f"is no JSON: {error}") from None
        lines.append(f"  {json.dumps(name, ensure_ascii=False)}: {shown}")
    text = "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"
    # Halves of surrogates have no UTF-8; JSON can say them.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def _redacted(value: Any, path: tuple[str | int, ...], redact: Redact) -> Any:
    if is_object(value):
        return {name: _redacted(item, (*path, name), redact) for name, item in value.items()}
    if is_array(value):
        return [_redacted(item, (*path, index), redact) for index, item in enumerate(value)]
    return redact(path, value)
