"""Loaders: names that leave the folder, bytes that are no UTF-8."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

import pytest

from priompt_py.errors import ArgumentTypeError, TemplateError
from priompt_py.template.environment import Environment, load_template
from priompt_py.template.loader import DictLoader, FileLoader, Loader, PackageLoader, join_name

BAD_NAMES = [
    "../../../etc/passwd",
    "../outside",
    "./../outside",
    "sub/../../outside",
    "..%2foutside/../../x",
    "....//x",
    "/etc/passwd",
    "//x",
    "C:\\Windows\\win.ini",
    "C:x",
    "..\\..\\x",
    "dumps/../../x",
    "a\0.priompt",
    "a\n",
    "",
    ".",
    "..",
    " x",
    "x /y",
    "con",
    "sub/NUL.priompt",
    "COM1",
    "x" * 5000,
    "~root",
    "file:///etc/passwd",
    "http://127.0.0.1/x",
    "a//b",
    "a/./../../b",
    "sub/.hidden",
    "a*",
    "a|b",
    "link",
    "linked/secret",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.priompt").write_text("SECRET", "utf-8")
    (tmp_path / "outside.priompt").write_text("SECRET", "utf-8")
    root = tmp_path / "prompts"
    (root / "sub").mkdir(parents=True)
    (root / "link.priompt").symlink_to(tmp_path / "secret.priompt")
    (root / "linked").symlink_to(tmp_path)
    for name in ("example01", "2024-05-01T10-00-00", "a b", "é", "sub/x"):
        (root / f"{name}.priompt").write_text(name, "utf-8")
    return root


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_leave_the_folder_are_refused(folder: Path, name: str) -> None:
    environment = Environment(loader=FileLoader(folder))
    with pytest.raises(TemplateError) as by_get:
        environment.get(name)
    quoted = name.replace("\n", "&#10;")
    if "\0" not in name and "&" not in quoted:
        with pytest.raises(TemplateError) as by_import:
            environment.from_string(f'text\n<import name="A" from="{quoted}"/>')
        assert (by_import.value.line, by_import.value.column) == (2, 18)
    assert "SECRET" not in str(by_get.value)


@pytest.mark.parametrize("name", ["link", "linked/secret", "linked/nothing", "sub/nothing"])
def test_nobody_learns_what_is_outside(folder: Path, name: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(folder)).get(name)
    assert caught.value.message.startswith(f'there is no template "{name}.priompt"')


@pytest.mark.parametrize(
    "name", ["example01", "2024-05-01T10-00-00", "a b", "é", "sub/x", "sub/../example01", "./sub/x"]
)
def test_good_names(folder: Path, name: str) -> None:
    expected = name.removeprefix("sub/../").removeprefix("./")
    assert Environment(loader=FileLoader(folder)).get(name)() == [expected]


def test_a_link_that_leads_out(folder: Path) -> None:
    for name in ("link", "linked/secret", "linked/nothing"):
        with pytest.raises(TemplateError) as caught:
            Environment(loader=FileLoader(folder)).get(name)
        assert (
            str(caught.value)
            == f'there is no template "{name}.priompt": a link on its way leads out of the folder'
        )
    (folder / "dangling.priompt").symlink_to(folder / "no.priompt")
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(folder)).get("dangling")
    assert str(caught.value) == 'there is no template "dangling.priompt"'


def test_a_change_that_keeps_time_and_size_is_seen(folder: Path) -> None:
    path = folder / "a.priompt"
    environment = Environment(loader=FileLoader(folder))
    for text in ("<A/>", "<B/>", "{'a'}", "{'b'}"):
        path.write_text(text, "utf-8")
        os.utime(path, ns=(1, 1))
        if text.startswith("{"):
            assert environment.get("a")() == [text[2]]
        else:
            with pytest.raises(TemplateError, match=f"there is no component {text[:2]}>"):
                environment.get("a")
    still = environment.get("a")
    os.utime(path, ns=(2, 2))
    assert environment.get("a") is still


def test_a_missing_template_suggests_the_nearest(folder: Path) -> None:
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(folder)).get("exampel01")
    assert str(caught.value) == 'there is no template "exampel01.priompt"; did you mean example01?'


@pytest.mark.parametrize(
    ("importer", "name", "joined"),
    [
        (None, "chat", "chat.priompt"),
        ("sub/a.priompt", "./b", "sub/b.priompt"),
        ("sub/a.priompt", "../b", "b.priompt"),
        ("sub/a.priompt", "b", "b.priompt"),
        ("sub/deep/a.priompt", "../x/b.priompt", "sub/x/b.priompt"),
    ],
)
def test_names_are_joined(importer: str | None, name: str, joined: str) -> None:
    assert join_name(importer, name) == joined


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("<user>a</user>".encode("utf-16"), "looks like UTF-16; save it as UTF-8"),
        ("<user>a</user>".encode("utf-16-le"), "looks like UTF-16; save it as UTF-8"),
        ("<user>a</user>".encode("utf-16-be"), "looks like UTF-16; save it as UTF-8"),
        ("<user>a</user>".encode("utf-32"), "looks like UTF-32; save it as UTF-8"),
        (b"<user>\n\xe9</user>", "not UTF-8: byte 0xE9 at offset 7 (line 2); save it as UTF-8"),
        (b"\xff\x00", "not UTF-8: byte 0xFF at offset 0 (line 1); save it as UTF-8"),
    ],
)
def test_bytes_that_are_not_utf_8(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.priompt").write_bytes(data)
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(tmp_path)).get("a")
    assert str(caught.value) == f"{tmp_path / 'a.priompt'}: {message}"


def test_marks_and_line_ends(tmp_path: Path) -> None:
    text = "<system>\n  a\n  b {1 +}\n</system>\n<user>你好</user>"
    windows = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    (tmp_path / "a.priompt").write_bytes(windows)
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(tmp_path)).get("a")
    assert (caught.value.line, caught.value.column) == (3, 9)
    good = text.replace("{1 +}", "")
    (tmp_path / "a.priompt").write_bytes(b"\xef\xbb\xbf" + good.replace("\n", "\r\n").encode())
    (tmp_path / "b.priompt").write_bytes(good.encode())
    environment = Environment(loader=FileLoader(tmp_path))
    assert environment.get("a")() == environment.get("b")()


def test_a_package_holds_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package_with_prompts"
    (package / "templates").mkdir(parents=True)
    (package / "__init__.py").write_text("", "utf-8")
    (package / "templates" / "a.priompt").write_text("A", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert Environment(loader=PackageLoader("package_with_prompts")).get("a")() == ["A"]
    monkeypatch.delitem(sys.modules, "package_with_prompts", raising=False)
    for wrong in ("no_such_package", "sys", "a..b"):
        with pytest.raises(TemplateError) as caught:
            PackageLoader(wrong)
        assert str(caught.value) == f"there is no package {wrong}"


def test_any_object_can_load() -> None:
    loader: Loader = DictLoader({"a": "A", "sub/b.priompt": "B"})
    assert sorted(loader.names()) == ["a.priompt", "sub/b.priompt"]
    assert loader.stamp("a.priompt") is None
    with pytest.raises(ArgumentTypeError) as caught:
        FileLoader(cast("str", 3))
    assert str(caught.value) == "FileLoader() needs a folder, got 3"


@pytest.mark.parametrize(
    "name", [".hidden.priompt", "._chat.priompt", "nul.priompt", " a.priompt", ".priompt.priompt"]
)
def test_a_path_may_be_any_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "part.priompt").write_text("part")
    (tmp_path / name).write_text("<import name='Part' from='./part'/><Part/>")
    assert load_template(tmp_path / name)() == ["part"]
    assert load_template(tmp_path / name, environment=Environment())() == ["part"]
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(tmp_path)).get(name)
    assert str(caught.value) == f'"{name.strip()}" is no name of a template'


def test_a_file_that_is_no_template(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    for environment in (None, Environment()):
        with pytest.raises(TemplateError) as caught:
            load_template(tmp_path / "a.txt", environment=environment)
        assert str(caught.value) == f"{tmp_path / 'a.txt'}: is no template: their files end in .priompt"
