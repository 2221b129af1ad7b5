"""Writes a sample to a folder: its code, its dependencies, and the SDK.

The SDKs with their samples are in the folder `sdk`: of the repository, or of the installed package.
"""

import json
import shlex
import shutil
from pathlib import Path
from typing import Literal, NamedTuple

from cli.errors import UsageError

Sample = Literal["ivr", "voicemail", "click-to-call", "survey", "after-hours"]
Framework = Literal["fastapi", "flask", "express"]
SDK = Path(__file__).parents[2] / "sdk"
PYTHON, TYPESCRIPT = SDK / "python", SDK / "typescript"
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc")


class Project(NamedTuple):
    """A folder with a sample, and the commands that install and run it."""

    folder: Path
    commands: tuple[str, str]


def create_project(sample: Sample, framework: Framework, folder: Path) -> Project:
    """Write a sample to a folder that is empty or does not exist; raises UsageError."""
    _check_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _copy_files(SDK / "samples" / sample, folder)  # what all frameworks share
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
    shutil.copy(source / f"{framework}_app.py", folder / "app.py")
    requirements = PYTHON / f"samples/requirements-{framework}.txt"
    shutil.copy(requirements, folder / "requirements.txt")
    shutil.copytree(PYTHON / "switchroom_sdk", folder / "switchroom_sdk", ignore=_NOT_COPIED)
    install = f"python -m pip install -r {_quoted(folder / 'requirements.txt')}"
    return Project(folder, (install, f"python {_quoted(folder / 'app.py')}"))


def _write_typescript(sample: Sample, folder: Path) -> Project:
    shutil.copy(TYPESCRIPT / "samples" / sample / "app.ts", folder)
    _copy_files(TYPESCRIPT / "samples/shared", folder)
    package = json.loads((folder / "package.json").read_text())
    (folder / "package.json").write_text(json.dumps({"name": sample, **package}, indent=2) + "\n")
    sdk = folder / "switchroom-sdk"
    shutil.copytree(TYPESCRIPT / "src", sdk / "src", ignore=_NOT_COPIED)
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(TYPESCRIPT / name, sdk)
    where = f"--prefix {_quoted(folder)}"
    return Project(folder, (f"npm install {where}", f"npm start {where}"))


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _copy_files(source: Path, folder: Path) -> None:
    for path in source.iterdir():
        shutil.copy(path, folder)
