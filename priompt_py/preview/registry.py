"""Prompts that are known by an id: ``@prompt(id="chat")`` and ``register(...)``."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import attrs

from priompt_py.author.checks import got
from priompt_py.author.component import Component
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, SourceError
from priompt_py.model.elements import Element
from priompt_py.preview.decode import decode_props, hints_of_function
from priompt_py.preview.dumps import Dump, list_dumps, read_dump
from priompt_py.preview.json_kinds import class_of
from priompt_py.preview.names import check_id
from priompt_py.preview.no_return import with_return
from priompt_py.preview.recording import VARIABLE, Dehydrate, Recorder, Redact, folder_of_dumps

__all__ = [
    "Hydrate",
    "RegisteredPrompt",
    "described",
    "find_prompt",
    "is_template",
    "prompt",
    "register",
    "registered_as",
    "registered_prompts",
]

F = TypeVar("F", bound=Callable[..., Any])

Hydrate: TypeAlias = "Callable[[dict[str, Any]], Mapping[str, Any]]"
"""Makes props of what a dump holds, or of what was typed."""

_prompts: dict[str, RegisteredPrompt] = {}  # by the id in lower case: file systems may not tell more
_lock = threading.Lock()


@attrs.frozen(eq=False, kw_only=True)
class RegisteredPrompt:
    """A prompt with an id.

    ``function`` is what callers have, which writes dumps; ``original`` the same without; ``place`` is ``file:line``.
    ``token_limit`` is the prompt's own limit, in tokens, if it was given one here.
    """

    id: str
    function: Any
    original: Any
    place: str
    token_limit: int | None
    hydrate: Hydrate | None
    recorder: Recorder

    @property
    def takes_children(self) -> str | None:
        """The name under which props hold the children of a component or template; None where it takes none."""
        return next(iter(self.recorder.signature.parameters)) if self.recorder.takes_children else None

    @property
    def dumps_folder(self) -> Path | None:
        """Where its dumps are written now."""
        return folder_of_dumps(self.recorder.dump)

    def build(self, props: Mapping[str, Any]) -> Any:
        """The node of props in their JSON form: of a dump, an example, or typed. Writes no dump.

        Raises ArgumentTypeError or ArgumentValueError for props that don't fit the annotations, and what the prompt
        and its ``hydrate`` raise.
        """
        return self.call(self.typed(self.hydrated(props)))

    def hydrated(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Props in their JSON form with what the prompt's ``hydrate`` supplies."""
        return dict(data) if self.hydrate is None else dict(self.hydrate(dict(data)))

    def typed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Props as the function's annotations say. Raises ArgumentTypeError or ArgumentValueError."""
        return decode_props(data, hints_of_function(self.recorder.function))

    def call(self, props: Mapping[str, Any]) -> Any:
        """The node of props as the function takes them; ``on_return`` may be left out. Writes no dump."""
        given = with_return(self.original, props)
        children = given.pop(self.takes_children, None) if self.takes_children is not None else None
        if children is None:
            return self.original(**given)
        tag = self.original if isinstance(self.original, Component) else self.original.component
        return tag(**given)[children]

    def dumps(self) -> list[Dump]:
        """Its examples and dumps. Raises SourceError."""
        folder = self.dumps_folder
        return [] if folder is None else list_dumps(folder, self.id)

    def read(self, name: str) -> dict[str, Any]:
        """The props of an example or a dump in their JSON form; ``last`` is the newest dump. Raises SourceError."""
        folder = self.dumps_folder
        if folder is None:
            raise SourceError(f"there is no folder with dumps of {self.id}: {VARIABLE} names it")
        return read_dump(folder, self.id, name)


def prompt(
    *,
    id: str,  # noqa: A002 - what users call it
    token_limit: int | None = None,
    dump: str | os.PathLike[str] | Literal[False] | None = None,
    dehydrate: Dehydrate | None = None,
    hydrate: Hydrate | None = None,
    redact: Redact | None = None,
) -> Callable[[F], F]:
    """Give a prompt an id, under which the command line and the preview find it, and its runs are dumped.

    ``token_limit`` is the prompt's own limit, in tokens, for the command line and the preview. ``dump`` is the folder
    of its dumps where the variable PRIOMPT_DUMP names none; False writes none whatever it says. ``dehydrate`` makes of
    the props what is dumped, ``hydrate`` makes props of it, also of what was typed; ``redact`` is called with the path
    and the value of all that a dump holds, and gives the value that is written.

    The function keeps its signature. Raises ArgumentTypeError and ArgumentValueError: for an id that is no name of a
    file on every system, or is taken by another function.
    """

    def decorate(function: F) -> F:
        return register(
            function,
            id=id,
            token_limit=token_limit,
            dump=dump,
            dehydrate=dehydrate,
            hydrate=hydrate,
            redact=redact,
        )

    check_id("prompt", id)
    return decorate


def register(
    function: F,
    /,
    *,
    id: str,  # noqa: A002 - what users call it
    token_limit: int | None = None,
    dump: str | os.PathLike[str] | Literal[False] | None = None,
    dehydrate: Dehydrate | None = None,
    hydrate: Hydrate | None = None,
    redact: Redact | None = None,
) -> F:
    """Give a function, a component or a template an id; gives what writes dumps when it is called. See ``prompt``."""
    check_id("register", id)
    _check_settings(token_limit, dump, {"dehydrate": dehydrate, "hydrate": hydrate, "redact": redact})
    signature, inner = _read(function)
    if signature is None:
        raise ArgumentTypeError(f"register() can't read the parameters of {got(function)}")
    of_template = is_template(function)
    recorder = Recorder(
        id=id,
        function=inner,
        signature=signature,
        takes_children=of_template or isinstance(function, Component),
        dump=dump if dump is None or dump is False else Path(dump).absolute(),
        dehydrate=dehydrate,
        redact=redact,
    )
    made: Any
    template: Any = function
    if isinstance(function, Component):
        made = Component(_recorded(inner, recorder))
    elif of_template:
        from priompt_py.preview.recorded_template import RecordedTemplate

        made = RecordedTemplate(template, recorder)
    else:
        made = _recorded(inner, recorder)
    entry = RegisteredPrompt(
        id=id,
        function=made,
        original=function,
        place=_place(function, inner),
        token_limit=token_limit,
        hydrate=hydrate,
        recorder=recorder,
    )
    made.__priompt__ = entry
    _add(entry)
    kept: F = made
    return kept


def described(function: Any) -> RegisteredPrompt:
    """A function, component or template as if it were registered, without dumps; raises ArgumentTypeError."""
    signature, inner = _read(function)
    recorder = Recorder(
        id="",
        function=inner,
        signature=signature or inspect.Signature([inspect.Parameter("props", inspect.Parameter.VAR_KEYWORD)]),
        takes_children=isinstance(function, Component) or is_template(function),
        dump=False,
    )
    return RegisteredPrompt(
        id="",
        function=function,
        original=function,
        place=_place(function, inner),
        token_limit=None,
        hydrate=None,
        recorder=recorder,
    )


def registered_as(value: object) -> RegisteredPrompt | None:
    """The registration of a function, component or template; None where it has none."""
    entry = getattr(value, "__priompt__", None)
    # A decorator around it may have copied its attributes.
    return entry if isinstance(entry, RegisteredPrompt) and entry.function is value else None


def registered_prompts() -> dict[str, RegisteredPrompt]:
    """All prompts that were registered until now, by their ids, in order of their registration."""
    with _lock:
        return {entry.id: entry for entry in _prompts.values()}


def find_prompt(id: str) -> RegisteredPrompt:  # noqa: A002 - what users call it
    """The prompt that was registered under an id. Raises SourceError with the nearest one."""
    known = registered_prompts()
    if id in known:
        return known[id]
    near = difflib.get_close_matches(id, known, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    there = f"; there are {', '.join(sorted(known))}" if known and not near else ""
    raise SourceError(f"no prompt is registered as {id!r}{hint}{there}")


# ------------------------------------------------------------------------------------------ registering


def _add(entry: RegisteredPrompt) -> None:
    with _lock:
        known = _prompts.get(entry.id.lower())
        if known is not None and not _is_again(known, entry):
            raise ArgumentValueError(
                f"two prompts want the id {entry.id!r}: the one at {known.place}"
                f"{'' if known.id == entry.id else f' as {known.id!r}'}, and the one at {entry.place}"
            )
        _prompts[entry.id.lower()] = entry


def _is_again(known: RegisteredPrompt, entry: RegisteredPrompt) -> bool:
    """Whether the same function comes again: its module was reloaded, or run as a file and imported."""
    if known.id != entry.id:
        return False
    names = [
        getattr(one.original, "__qualname__", None) or re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(one.original))
        for one in (known, entry)
    ]
    if names[0] != names[1]:
        return False
    if "<lambda>" in names[0]:  # several may stand in one file
        return known.place == entry.place
    modules = [getattr(one.original, "__module__", None) for one in (known, entry)]
    return modules[0] == modules[1] or known.place.rpartition(":")[0] == entry.place.rpartition(":")[0]


def _recorded(function: Any, recorder: Recorder) -> Any:
    """The function, which records its arguments before it runs."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(_call_of(function)):

        @functools.wraps(function)
        async def arun(*args: Any, **kwargs: Any) -> Any:
            recorder.record(args, kwargs)
            return await function(*args, **kwargs)

        return arun

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        recorder.record(args, kwargs)
        return function(*args, **kwargs)

    return run


def _read(function: Any) -> tuple[inspect.Signature | None, Any]:
    """The signature of what is to be registered (None where it can't be read), and the function that will run."""
    if isinstance(function, Component):
        inner = inspect.unwrap(function, stop=lambda one: not isinstance(one, Component))
        return inspect.signature(inner), inner
    if is_template(function):
        children = inspect.Parameter("children", inspect.Parameter.POSITIONAL_ONLY, default=())
        props = inspect.Parameter("props", inspect.Parameter.VAR_KEYWORD)
        return inspect.Signature([children, props]), function
    if isinstance(function, (type, Element)) or not callable(function):
        raise ArgumentTypeError(
            f"register() needs a function, a component or a template, got {got(function)}"
            + (
                "; a node has no props: write a function that returns it"
                if isinstance(function, Element)
                else ""
            )
        )
    if inspect.isasyncgenfunction(function):
        raise ArgumentTypeError(
            f"register() takes no async generators; make {function.__name__}() an async function that returns a list"
        )
    try:
        return inspect.signature(function), function
    except (TypeError, ValueError):
        return None, function


def _call_of(value: Any) -> Any:
    """What runs when an object is called that is no function."""
    return getattr(class_of(value), "__call__", None)  # noqa: B004 - it is known to be callable


def is_template(value: object) -> bool:
    """Whether it is a template, told without importing templates where nobody has."""
    module = sys.modules.get("priompt_py.template.environment")
    return module is not None and isinstance(value, module.Template)


def _place(function: Any, inner: Any) -> str:
    """``file:line`` of a function; a template's file; where neither is known, its name."""
    while isinstance(inner, functools.partial):
        inner = inner.func
    code = getattr(inspect.unwrap(inner), "__code__", None) or getattr(_call_of(inner), "__code__", None)
    if is_template(function):
        return str(function.shown)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(function)


def _check_settings(token_limit: object, dump: object, hooks: Mapping[str, object]) -> None:
    if token_limit is not None and type(token_limit) is not int:
        raise ArgumentTypeError(
            f"register() needs a whole number for token_limit, got token_limit={got(token_limit)}"
        )
    if token_limit is not None and token_limit < 0:
        raise ArgumentValueError(f"register() needs token_limit >= 0, got token_limit={token_limit}")
    if not (dump is None or dump is False or isinstance(dump, (str, os.PathLike))):
        raise ArgumentTypeError(f"register() needs a folder or False for dump, got dump={got(dump)}")
    for name, hook in hooks.items():
        if hook is not None and not callable(hook):
            raise ArgumentTypeError(f"register() needs a function for {name}, got {name}={got(hook)}")
