"""Folders of modules that import-linter reads."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOPS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


def test_no_package_hides_a_folder() -> None:
    """Below a package it reads packages only; below a folder without `__init__.py` it reads all."""
    packages = [path.parent for top in TOPS for path in (ROOT / top).rglob("__init__.py")]
    assert packages
    hidden = {
        module.parent.relative_to(ROOT)
        for package in packages
        for module in package.rglob("*.py")
        if not (module.parent / "__init__.py").exists()
    }
    assert hidden == set()
