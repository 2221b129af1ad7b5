"""The passphrase of a backup: from a file, a variable, or typed at a terminal."""

import sys
from collections.abc import Mapping
from getpass import getpass
from pathlib import Path

from api.backup.records import InvalidBackup
from api.backup.settings_files import PASSPHRASE


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
