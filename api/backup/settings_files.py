"""The settings of this machine as files: variables, `.env`, TOML, and others that are named.

Secrets are among them: the one that seals secrets in the database, the token of the engines.
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from api.backup.records import InvalidBackup, SettingsFile

PREFIX = "SWITCHROOM_"
CONFIG = "SWITCHROOM_CONFIG"  # the variable with the path of a TOML file
PASSPHRASE = "SWITCHROOM_BACKUP_PASSPHRASE"  # noqa: S105 - the name of the variable
ENVIRONMENT = "/environment.env"  # the file with the variables
FILE_MODE = 0o600
FOLDER_MODE = 0o700


def collect_settings(
    environment: Mapping[str, str], folder: Path, more: Iterable[Path]
) -> tuple[SettingsFile, ...]:
    """Return the settings of a program that starts in a folder; raises InvalidBackup."""
    variables = {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and name != PASSPHRASE
    }
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in variables.items()]
    found = [SettingsFile(ENVIRONMENT, "".join(lines).encode())] if lines else []
    dotenv, config = folder / ".env", variables.get(CONFIG)
    paths = [
        *([dotenv] if dotenv.is_file() else []),
        *([folder / config] if config else []),
        *more,
    ]
    for name, path in {
        os.path.normpath(each.absolute()): each.absolute() for each in paths
    }.items():
        try:
            found.append(SettingsFile(name, path.read_bytes()))
        except OSError as error:
            raise InvalidBackup(f"{path}: {error.strerror}") from None
    return tuple(found)


def write_settings(files: Iterable[SettingsFile], folder: Path) -> list[Path]:
    """Write files of settings below a folder that is empty or new; raises InvalidBackup."""
    written = []
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InvalidBackup(f"{folder} is not empty")
        for each in files:
            if ".." in PurePosixPath(each.path).parts:
                raise InvalidBackup(f"{each.path}: outside of {folder}")
            path = folder.joinpath(*PurePosixPath(each.path).parts[1:])
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(each.content)
            written.append(path)
    except OSError as error:
        raise InvalidBackup(f"{error.filename or folder}: {error.strerror}") from None
    return written
