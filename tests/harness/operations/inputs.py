"""Variables that operators set, and whether an engine or a PBX node reads them."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from dotenv import dotenv_values

from api.config import Settings as ApiSettings
from engine.config import Settings
from speech.settings import Settings as SpeechSettings
from streams.settings import Settings as StreamsSettings
from tests.harness.operations.pbx_script import FOLDER, load_prepare

PREFIX = "SWITCHROOM_"
PROGRAMS = (Settings, ApiSettings, StreamsSettings, SpeechSettings)
# Read by the lab and its compose file only.
LAB_ONLY = {
    *("ARI_PASSWORD", "AGENT_PASSWORD", "PEER_PASSWORD", "STORE_PASSWORD"),
    *("TRUNK", "DEV_DIR"),
}
TEMPLATES = FOLDER / "etc"


def read_settings(variables: Mapping[str, str], folder: Path) -> Settings:
    """Return the settings of an engine with these variables; raises ValidationError."""
    path = folder / "variables.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in variables.items()))
    return Settings(_env_file=path)


def unknown_settings(names: Iterable[str]) -> set[str]:
    """Return the variables with our prefix that are no setting."""
    ours = {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    known = set().union(*(each.model_fields for each in PROGRAMS))
    return {name for name in ours - LAB_ONLY if name.lower() not in known}


def unknown_pbx_variables(names: Iterable[str]) -> set[str]:
    """Return the variables with a node's prefix that no template or default has."""
    used = {name for path in TEMPLATES.glob("*.conf") for name in placeholders(path)}
    known = used | load_prepare().DEFAULTS.keys()
    return {name for name in names if name.startswith("PBX_") and name[4:] not in known}


def filled(path: Path) -> dict[str, str]:
    """Read an example, with its secrets filled in."""
    values = {name: value or "" for name, value in dotenv_values(path).items()}
    return {
        name: (value or "secret" * 8).replace('""', '"of-the-example-itself"')
        for name, value in values.items()
    }


def placeholders(path: Path) -> list[str]:
    return re.findall(r"@([A-Z_]+)@", path.read_text())
