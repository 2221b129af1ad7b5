"""Variables as an operator gives them, and whether an engine or a PBX node knows them."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from dotenv import dotenv_values

from api.config import Settings as ApiSettings
from engine.config import Settings

PREFIX = "SWITCHROOM_"
# What only the lab and its compose file read.
LAB_ONLY = {"ARI_PASSWORD", "AGENT_PASSWORD"}
TEMPLATES = Path(__file__).parents[3] / "asterisk-config/etc"


def accepted(given: Mapping[str, str], folder: Path) -> Settings:
    """Let an engine read its variables; raises ValidationError."""
    path = folder / "given.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in given.items()))
    return Settings(_env_file=path)


def unknown_settings(names: Iterable[str]) -> set[str]:
    """Name the variables that look like an engine's, or the REST layer's, and are none."""
    ours = {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    known = Settings.model_fields.keys() | ApiSettings.model_fields.keys()
    return {name for name in ours - LAB_ONLY if name.lower() not in known}


def unknown_of_pbx(names: Iterable[str]) -> set[str]:
    """Name the variables that look like a node's, and that no template asks for."""
    asked = {name for path in TEMPLATES.glob("*.conf") for name in _placeholders(path)}
    known = {*asked, "SLOTS", "TRUNK"}
    return {name for name in names if name.startswith("PBX_") and name[4:] not in known}


def filled(path: Path) -> dict[str, str]:
    """Read an example whose secrets somebody has filled in."""
    read = {name: value or "" for name, value in dotenv_values(path).items()}
    blank = {"": "secret", "whsec_": "whsec_" + "c2VjcmV0" * 4}
    return {name: blank.get(value, value).replace('""', '"secret"') for name, value in read.items()}


def _placeholders(path: Path) -> list[str]:
    return re.findall(r"@([A-Z_]+)@", path.read_text())
