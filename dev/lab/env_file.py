"""Files of settings, one `NAME='value'` a line, as python-dotenv and a shell read them."""

import os
import re
import tempfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values

from dev.errors import BadOption, UnreadableSettings

_FOR_DOUBLE_QUOTES = re.compile(r"[^\"\\$`\x00-\x1f\x7f]*")  # the rest differs between readers
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def read_file(path: Path) -> dict[str, str]:
    """Return the settings of a file, none if it does not exist; raises UnreadableSettings."""
    try:
        found = dotenv_values(path)
    except (UnicodeDecodeError, OSError) as error:
        raise UnreadableSettings(path, error) from None
    return {name: value for name, value in found.items() if value is not None}


def setting_line(name: str, value: str) -> str:
    """Return a line; raises BadOption for a value that a reader would take for something else."""
    if "'" not in value and not _CONTROL.search(value):
        return f"{name}='{value}'\n"
    if not _FOR_DOUBLE_QUOTES.fullmatch(value):
        raise BadOption(f"{name}: a value with ' may have none of \" \\ $ ` and no line break")
    return f'{name}="{value}"\n'


def replace_file(path: Path, text: str) -> None:
    """Write a file for its owner only, all at once: a full disk leaves what was there.

    A link is followed if it is ours: that of another user could lead anywhere.
    """
    target = path
    if path.is_symlink():
        if path.lstat().st_uid != os.geteuid():
            raise PermissionError(1, "is a link of another user", str(path))
        target = path.resolve()
    if target.exists() and not target.is_file():
        raise IsADirectoryError(21, "is no file", str(path))
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")  # 0600
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(text.encode())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_text(path: Path) -> str:
    """Return a file as it is, with its line ends; empty if it does not exist."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (UnicodeDecodeError, OSError) as error:
        raise UnreadableSettings(path, error) from None


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
