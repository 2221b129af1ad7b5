"""The distributions: the SDK's wheel stands alone, and the engine's has the samples."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import get_args

from engine.cli.new.project import Framework

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


def test_the_wheel_creates_applications(tmp_path: Path) -> None:
    """`switchroom new` needs the wheel only; nothing installed or compiled is part of it."""
    wheel = build(ROOT, tmp_path)
    names = [each for each in wheel.namelist() if "sdk/" in each]
    assert not [each for each in names if "node_modules" in each or "__pycache__" in each]
    assert not [each for each in names if "/test/" in each or "/dist/" in each]
    site = tmp_path / "site"
    wheel.extractall(site)
    packages = next(site.rglob("engine/__main__.py")).parents[1]
    for framework in get_args(Framework):
        argv = (sys.executable, "-m", "engine", "new", "ivr", f"--{framework}", framework)
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
