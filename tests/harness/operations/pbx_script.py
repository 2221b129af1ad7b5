"""The script that writes a PBX node's configuration, and its settings."""

import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[3] / "asterisk-config"


def load_prepare() -> ModuleType:
    """Load prepare.py, which imports its neighbours: its folder is no package."""
    spec = spec_from_file_location("prepare", FOLDER / "prepare.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
        for neighbour in FOLDER.glob("*.py"):
            sys.modules.pop(neighbour.stem, None)
    return module


def node_values(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values of all placeholders; raises SettingError for variables that do not fit."""
    values: Mapping[str, str] = load_prepare().values(Path("/x"), variables)
    return values
