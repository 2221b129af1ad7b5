"""The part of a `.env` that a lab writes, so that commands in that folder reach it.

Lines outside the part are the developer's: they stay as they are, and go before ours.
"""

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values

from dev.lab.env_file import read_text, replace_file, setting_line

FIRST = "# --- written by `switchroom dev`: edit {settings} instead"
LAST = "# --- end of `switchroom dev`"
API_URL = "SWITCHROOM_API_URL"
_PART = re.compile(r"^# --- written by `switchroom dev`.*?^# --- end of `switchroom dev`\r?\n",
                   re.MULTILINE | re.DOTALL)  # fmt: skip


def write_dotenv(path: Path, settings: Mapping[str, str], source: Path) -> list[str]:
    """Write all settings, and return the names that the developer has set to something else."""
    own = _PART.sub("", read_text(path))
    found = dotenv_values(stream=StringIO(own))
    kept = {name: value for name, value in found.items() if value is not None}
    lines = [setting_line(*each) for each in settings.items() if each[0] not in kept]
    separator = "" if not own or own.endswith("\n") else "\n"
    part = "".join((f"{FIRST.format(settings=source)}\n", *lines, f"{LAST}\n"))
    replace_file(path, own + separator + part)
    return [name for name, value in kept.items() if settings.get(name, value) != value]
