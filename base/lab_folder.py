"""Where `switchroom dev` keeps a lab, and what a command says that is not in the lab's folder."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

PLAN_FILE = "dev.json"
FOLDER_VARIABLE = "SWITCHROOM_DEV_DIR"
_SUBFOLDER = "switchroom/dev"


def default_lab_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the state; raises RuntimeError if this user has no home."""
    state = environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state) / _SUBFOLDER


def lab_hint(environ: Mapping[str, str], here: Path) -> str:
    """Return how a command finds this user's lab from a folder without `.env`; empty without one.

    Settings are not taken from the lab by themselves: the folder decides, as the user sees it.
    """
    if (here / ".env").exists() or (plan := _own_plan(environ)) is None:
        return ""
    if (folder := _dotenv_folder(plan)) is None:
        return "no .env is in this folder: `switchroom dev up` here writes one for the lab"
    return f"no .env is in this folder: `cd {folder}`, or `switchroom dev up` here"


def lab_settings_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the folder of the last `.env` that a start of this user's lab has written."""
    return _dotenv_folder(_own_plan(environ))


def _own_plan(environ: Mapping[str, str]) -> object:
    """Return the plan of this user's lab; None without one."""
    try:
        path = default_lab_folder(environ) / PLAN_FILE
        return json.loads(path.read_bytes()) if path.stat().st_uid == os.geteuid() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _dotenv_folder(plan: object) -> Path | None:
    dotenv = plan.get("dotenv") if isinstance(plan, dict) else None
    return Path(dotenv).parent if isinstance(dotenv, str) and Path(dotenv).is_file() else None
