"""Environments and templates: what a template may use, and a template as a component."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priompt_py.author.children import a_type, is_mapping
from priompt_py.author.component import Component
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, TemplateError
from priompt_py.model.values import short_repr
from priompt_py.template.bounds import Bounds
from priompt_py.template.collector import without_collections
from priompt_py.template.evaluate import Run
from priompt_py.template.front_matter import FrontMatter
from priompt_py.template.functions import BUILTINS
from priompt_py.template.link import Link, link, takes_children
from priompt_py.template.loader import SUFFIX, FileLoader, Loader, join_name
from priompt_py.template.parse import ParsedTemplate, parse_source
from priompt_py.template.props import props_checker
from priompt_py.template.source import Source
from priompt_py.template.vocabulary import is_component

if TYPE_CHECKING:
    from priompt_py.model.elements import Node
    from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["Environment", "Template", "load_template", "parse_template"]

DEFAULT_TOKENIZER = "o200k_base"


class Template:
    """A template as a component: called with its props, it gives a node.

    ``component`` is the same as a tag, for Python that gives it children: ``box.component(title="A")["text"]``.
    """

    def __init__(
        self, environment: Environment, parsed: ParsedTemplate, link: Link, *, name: str | None
    ) -> None:
        self.environment = environment
        self.parsed = parsed
        self.name = name
        self.link = link
        self._check = props_checker(self.shown, parsed.front_matter.props)
        self._body = link.body

    @property
    def shown(self) -> str:
        """What messages call the template."""
        return self.parsed.source.name

    @property
    def front_matter(self) -> FrontMatter:
        """What stands between its ``---`` lines."""
        return self.parsed.front_matter

    @property
    def token_limit(self) -> int | None:
        """The prompt's own limit, in tokens, if it has one."""
        return self.parsed.front_matter.token_limit

    @property
    def __name__(self) -> str:
        """What paths call it."""
        return Path(self.name or self.shown).stem

    @cached_property
    def takes_children(self) -> bool:
        """Whether ``<children/>`` stands in it."""
        return takes_children(self.parsed.nodes)

    def __call__(self, /, **props: Any) -> list[Any]:
        """The node that the template makes of its props: a list of nodes. Raises TemplateError."""
        return self._evaluate(props, [])

    @property
    def component(self) -> Component[...]:
        """The template as a tag that takes children."""

        def call(children: Any, /, **props: Any) -> Node:
            return self._evaluate(props, list(children))

        call.__name__ = self.__name__
        return Component(call)

    def _evaluate(self, props: Mapping[str, Any], children: list[Any]) -> list[Any]:
        def wrong(message: str, _name: str | None) -> TemplateError:
            return TemplateError(message, file=self.shown)

        run = self.environment.new_run(self.front_matter.tokenizer)
        run.children = children
        names = self._check(props, wrong)
        if not self.takes_children and not all(map(_is_blank, children)):
            raise TemplateError("the template takes no children: it has no <children/>", file=self.shown)
        try:
            with without_collections():
                return self._body.nodes(run, names)
        except RecursionError:
            raise TemplateError(
                "the template is nested too deeply for the program that calls it", file=self.shown
            ) from None

    def __repr__(self) -> str:
        return f"<Template {self.shown}>"


class Environment:
    """What templates may use: ``functions`` (filters too), ``components``, a ``loader``, a ``tokenizer``.

    ``strict=False`` gives None for names, attributes and keys that aren't there. ``bounds`` is the most that one
    evaluation may do. Templates are parsed once; with ``auto_reload`` a changed one is read again when it is asked for.
    """

    def __init__(
        self,
        *,
        loader: Loader | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        components: Mapping[str, Callable[..., Any]] | None = None,
        strict: bool = True,
        bounds: Bounds | None = None,
        tokenizer: object = DEFAULT_TOKENIZER,
        auto_reload: bool = True,
    ) -> None:
        _check_arguments(loader, bounds)
        self.loader = loader
        self.functions: Mapping[str, Callable[..., Any]] = {**BUILTINS, **_checked("functions", functions)}
        self.components: Mapping[str, Callable[..., Any]] = _checked("components", components)
        for name in self.components:
            if not is_component(name):
                raise ArgumentValueError(
                    f"Environment() needs components with capitalised names, got {name!r}"
                )
        self.strict = strict
        self.bounds = Bounds() if bounds is None else bounds
        self.tokenizer = tokenizer
        self.auto_reload = auto_reload
        self._cache: dict[str, Template] = {}
        self._lock = threading.RLock()

    def get(self, name: str) -> Template:
        """The template of this name, parsed once. Raises TemplateError."""
        return self.load(join_name(None, name), ())

    def from_string(self, text: str, name: str = "<template>") -> Template:
        """The template of a text; ``name`` is what messages call it. Raises TemplateSyntaxError."""
        return self.from_source(Source(text, name))

    def from_source(self, source: Source) -> Template:
        """The same of a source."""
        return self._made(parse_source(source, self.bounds), None, None, ())

    def load(self, name: str, importers: tuple[str, ...]) -> Template:
        """The template of a loader's name; ``importers`` are those that wait for it."""
        if self.loader is None:
            raise TemplateError("there is no loader to import templates with: Environment(loader=…)")
        with self._lock:
            known = self._cache.get(name)
            if known is not None and (not self.auto_reload or self._is_current(known)):
                return known
            loaded = self.loader.load(name)
            made = self._made(
                parse_source(Source(loaded.text, loaded.shown), self.bounds), name, loaded.stamp, importers
            )
            self._cache[name] = made
            return made

    def _made(
        self, parsed: ParsedTemplate, name: str | None, stamp: object, importers: tuple[str, ...]
    ) -> Template:
        return Template(self, parsed, link(self, parsed, name, stamp, importers), name=name)

    def _is_current(self, template: Template) -> bool:
        assert self.loader is not None
        seen: set[str] = set()
        stack = [template]
        while stack:
            here = stack.pop()
            if here.name is None or here.name in seen:
                continue
            seen.add(here.name)
            if self.loader.stamp(here.name) != here.link.stamp:
                return False
            stack.extend(here.link.imports.values())
        return True

    def new_run(self, tokenizer: object = None) -> Run:
        """A new evaluation."""
        made: list[Tokenizer] = []

        def get() -> Tokenizer:
            if not made:
                from priompt_py.tokens.tokenizer import get_tokenizer

                made.append(get_tokenizer(self.tokenizer if tokenizer is None else tokenizer))
            return made[0]

        return Run(self.bounds, functions=self.functions, tokenizer=get, strict=self.strict)


def _is_blank(child: Any) -> bool:
    return child is None or isinstance(child, bool) or (isinstance(child, str) and not child.strip())


def _check_arguments(loader: object, bounds: object) -> None:
    if loader is not None and not callable(getattr(loader, "load", None)):
        shown = short_repr(loader)
        hint = "; files are loaded by FileLoader(…)" if isinstance(loader, (str, os.PathLike)) else ""
        raise ArgumentTypeError(f"Environment() needs a loader, got loader={shown}{hint}")
    if bounds is not None and not isinstance(bounds, Bounds):
        raise ArgumentTypeError(f"Environment() needs Bounds(…) for bounds, got bounds={short_repr(bounds)}")


def _checked(what: str, given: Mapping[str, Callable[..., Any]] | None) -> dict[str, Callable[..., Any]]:
    if given is not None and not is_mapping(given):
        raise ArgumentTypeError(f"Environment() needs a mapping for {what}, got {a_type(given)}")
    found = dict(given or {})
    for name, value in found.items():
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
            raise ArgumentValueError(
                f"Environment() needs names of letters and digits for {what}, got {name!r}"
            )
        if not callable(value):
            raise ArgumentTypeError(f"Environment() needs functions for {what}, got {name}={value!r}")
    return found


# ------------------------------------------------------------------------------------------ without an environment


_environments: dict[str, Environment] = {}
_MOST_ENVIRONMENTS = 100


def load_template(path: str | os.PathLike[str], *, environment: Environment | None = None) -> Template:
    """The template of a file. What it imports has to lie below the file's folder.

    With an ``environment``, its functions, components and bounds are used. Raises TemplateError.
    """
    given: object = path
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentTypeError(f"load_template() needs a path, got {short_repr(given)}")
    file = Path(path)
    if file.is_file() and file.suffix != SUFFIX:
        raise TemplateError(f"is no template: their files end in {SUFFIX}", file=str(file))
    name = file.name if file.suffix == SUFFIX else f"{file.name}{SUFFIX}"
    if environment is not None:
        like = environment
        return _beside(file, like).load(name, ()) if like.loader is None else like.get(file.as_posix())
    key = str(file.parent.absolute())
    if key not in _environments:
        if len(_environments) >= _MOST_ENVIRONMENTS:
            _environments.clear()
        _environments[key] = Environment(loader=FileLoader(file.parent))
    # Who gives a path may give any: only the names that templates import are bound to a form.
    return _environments[key].load(name, ())


def _beside(file: Path, like: Environment) -> Environment:
    """An environment like another one, whose templates are the files beside one."""
    extra = {name: one for name, one in like.functions.items() if BUILTINS.get(name) is not one}
    return Environment(
        loader=FileLoader(file.parent),
        functions=extra,
        components=like.components,
        strict=like.strict,
        bounds=like.bounds,
        tokenizer=like.tokenizer,
        auto_reload=like.auto_reload,
    )


def parse_template(text: str, name: str = "<template>") -> ParsedTemplate:
    """The syntax of a template, without loading what it imports. Raises TemplateSyntaxError."""
    return parse_source(Source(text, name))
