"""The part of a `.env` that a lab writes, so that commands in that folder reach it.

Lines outside the part are the developer's: they stay as they are, and go before ours.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from dev.lab.settings import read_file, setting_line

FIRST = "# --- written by `switchroom dev`: edit {settings} instead"
LAST = "# --- end of `switchroom dev`"
API_URL = "SWITCHROOM_API_URL"
_PART = re.compile(r"^# --- written by `switchroom dev`.*?^# --- end of `switchroom dev`\n",
                   re.MULTILINE | re.DOTALL)  # fmt: skip
_MODE = 0o600


def write_dotenv(path: Path, settings: Mapping[str, str], source: Path) -> list[str]:
    """Write all settings, and return the names that the developer has set to something else."""
    text = path.read_text() if path.exists() else ""
    own = _PART.sub("", text)
    path.touch(mode=_MODE)
    path.chmod(_MODE)
    path.write_text(own)
    kept = read_file(path)
    lines = [setting_line(*each) for each in settings.items() if each[0] not in kept]
    separator = "" if not own or own.endswith("\n") else "\n"
    part = "".join((f"{FIRST.format(settings=source)}\n", *lines, f"{LAST}\n"))
    path.write_text(own + separator + part)
    return [name for name, value in kept.items() if settings.get(name, value) != value]
