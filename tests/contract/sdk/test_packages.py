"""The distributions: the SDK's wheel stands alone, and the engine's has the samples."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest
from hatchling.builders.wheel import WheelBuilder

from cli.new import Framework

ROOT = Path(__file__).parents[3]


def build(project: Path, folder: Path) -> zipfile.ZipFile:
    """Build the wheel of a project."""
    argv = (sys.executable, "-m", "uv", "build", "--wheel", "--no-build-isolation", "--offline")
    subprocess.run((*argv, "--out-dir", str(folder), str(project)), check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_sdk_depends_on_no_part_of_the_engine(tmp_path: Path) -> None:
    """Its wheel has types, and its modules import neither engine nor REST layer nor wire."""
    wheel = build(ROOT / "sdk/python", tmp_path)
    assert "switchroom_sdk/py.typed" in wheel.namelist()
    assert "switchroom_sdk/generated/resources.py" in wheel.namelist()
    wheel.extractall(tmp_path / "site")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "import switchroom_sdk, switchroom_sdk.fastapi, switchroom_sdk.flask\n"
        "ours = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not ours & {'engine', 'api', 'wire', 'sandbox', 'switchroom'}, ours\n"
        "assert switchroom_sdk.__file__.startswith(sys.path[0])\n"
    )
    argv = (
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n{code}",
    )
    subprocess.run(argv, check=True, cwd=tmp_path)


@pytest.mark.parametrize(
    ("project", "ours"),
    [
        (".", ("sdk/python/samples", "sdk/python/switchroom_sdk", "sdk/samples",
               "sdk/typescript/package.json", "sdk/typescript/samples", "sdk/typescript/src",
               "sdk/typescript/tsconfig.json")),
        ("sdk/python", ("sdk/python/switchroom_sdk",)),
    ],
)  # fmt: skip
def test_a_wheel_has_no_file_that_lies_around(
    tmp_path: Path, project: str, ours: Sequence[str]
) -> None:
    """Of a working tree with notes, keys and recordings it takes the files of the repository."""
    for each in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / each, tmp_path)
    installed = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(ROOT / "sdk", tmp_path / "sdk", ignore=installed)
    for each in ("notes.txt", "key.pem", "call.wav", ".env.old", "ivr/x.html", "ivr/deep/y.json"):
        for folder in ("sdk/python/samples", "sdk/python/switchroom_sdk", "sdk/samples",
                       "sdk/typescript/samples", "sdk/typescript/src"):  # fmt: skip
            path = tmp_path / folder / each
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    (tmp_path / "switchroom").mkdir()
    (tmp_path / "switchroom/__init__.py").touch()
    taken = WheelBuilder(str(tmp_path / project)).recurse_included_files()
    found = {Path(each.path).relative_to(tmp_path).as_posix() for each in taken}
    assert {each for each in found if each.startswith("sdk/")} == tracked(*ours)


def tracked(*folders: str) -> set[str]:
    """Return the files of folders that the repository has."""
    argv = ("git", "ls-files", "-z", *folders)
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    return {each for each in done.stdout.split("\0") if each}


def test_the_wheel_creates_applications(tmp_path: Path) -> None:
    """`switchroom new` needs the wheel only; nothing installed or compiled is part of it."""
    wheel = build(ROOT, tmp_path)
    names = [each for each in wheel.namelist() if "sdk/" in each]
    assert not [each for each in names if "node_modules" in each or "__pycache__" in each]
    assert not [each for each in names if "/test/" in each or "/dist/" in each]
    site = tmp_path / "site"
    wheel.extractall(site)
    packages = next(site.rglob("cli/main.py")).parents[1]
    for framework in get_args(Framework):
        argv = (sys.executable, "-m", "switchroom", "new", "ivr", f"--{framework}", framework)
        env = {**os.environ, "PYTHONPATH": str(packages)}
        subprocess.run(argv, check=True, cwd=tmp_path, env=env)
        assert (tmp_path / framework / "README.md").exists()


def test_all_versions_are_the_same() -> None:
    """An SDK has the version of the engine that it was generated from."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    python = tomllib.loads((ROOT / "sdk/python/pyproject.toml").read_text())["project"]["version"]
    typescript = json.loads((ROOT / "sdk/typescript/package.json").read_text())["version"]
    locked = json.loads((ROOT / "sdk/typescript/package-lock.json").read_text())["version"]
    assert {ours, python, typescript, locked} == {ours}
