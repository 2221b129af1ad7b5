"""What a backup needs of this machine: its settings as files, and the passphrase.

The settings are variables, `.env`, TOML, and other files that are named.

Secrets are among them: the one that seals secrets in the database, the token of the engines.
"""

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from getpass import getpass
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


def find_passphrase(file: Path | None, environment: Mapping[str, str], *, is_new: bool) -> str:
    """Return the passphrase; a new one is typed twice. Raises InvalidBackup."""
    if file is not None:
        try:
            return file.read_text(encoding="utf-8").rstrip("\r\n")
        except OSError as error:
            raise InvalidBackup(f"--passphrase-file {file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InvalidBackup(f"--passphrase-file {file}: expected text in UTF-8") from None
    if found := environment.get(PASSPHRASE):
        return found
    if not sys.stdin.isatty():
        raise InvalidBackup(f"a passphrase is needed: --passphrase-file, or {PASSPHRASE}")
    typed = getpass("Passphrase of the backup: ")
    if is_new and typed != getpass("The same again: "):
        raise InvalidBackup("the passphrases differ")
    return typed
