"""Writes a sample to a folder: its code, its dependencies, and the SDK.

The SDKs with their samples are in the folder `sdk`: of the repository, or of the installed package.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from engine.cli.errors import UsageError

Sample = Literal["ivr", "voicemail", "click-to-call", "survey", "after-hours"]
Framework = Literal["fastapi", "flask", "express"]
SDK = Path(__file__).parents[3] / "sdk"
PYTHON, TYPESCRIPT = SDK / "python", SDK / "typescript"
_NO_CACHE = shutil.ignore_patterns("__pycache__", "*.pyc", "node_modules", "dist")
_COMMON = ("README.md", "page.html")  # of a sample, in every framework


class Project(NamedTuple):
    """A folder with a sample, and the commands that install and run it."""

    folder: Path
    commands: tuple[str, str]


def create_project(sample: Sample, framework: Framework, folder: Path) -> Project:
    """Write a sample to a folder that is empty or does not exist; raises UsageError."""
    _check_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if framework == "express":
            return _write_typescript(sample, folder)
        return _write_python(sample, framework, folder)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}") from None


def _check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name another folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: name another folder")


def _write_python(sample: Sample, framework: str, folder: Path) -> Project:
    source = PYTHON / "samples" / sample.replace("-", "_")
    _copy(source, {f"{framework}_app.py": "app.py"}, folder)
    shutil.copytree(PYTHON / "switchroom_sdk", folder / "switchroom_sdk", ignore=_NO_CACHE)
    requirements = (PYTHON / "samples" / f"requirements-{framework}.txt").read_text()
    (folder / "requirements.txt").write_text(requirements)
    install = f"python -m pip install -r {folder / 'requirements.txt'}"
    return Project(folder, (install, f"python {folder / 'app.py'}"))


def _write_typescript(sample: Sample, folder: Path) -> Project:
    _copy(TYPESCRIPT / "samples" / sample, {"app.ts": "app.ts"}, folder)
    shared = TYPESCRIPT / "samples/shared"
    _copy(shared, {each.name: each.name for each in shared.iterdir()}, folder)
    package = json.loads((folder / "package.json").read_text())
    (folder / "package.json").write_text(json.dumps({"name": sample, **package}, indent=2) + "\n")
    sdk = folder / "switchroom-sdk"
    shutil.copytree(TYPESCRIPT / "src", sdk / "src", ignore=_NO_CACHE)
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(TYPESCRIPT / name, sdk / name)
    where = f" --prefix {folder}"
    return Project(folder, (f"npm install{where}", f"npm start{where}"))


def _copy(source: Path, names: Mapping[str, str], folder: Path) -> None:
    for path, name in _files(source, names):
        shutil.copy(path, folder / name)


def _files(source: Path, names: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for name, target in names.items():
        yield source / name, target
    for name in _COMMON:
        if (path := source / name).exists() and name not in names:
            yield path, name
