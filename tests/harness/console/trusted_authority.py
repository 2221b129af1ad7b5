"""The home of a user whose browser trusts an authority of its own, beside the public ones."""

import subprocess
from pathlib import Path


def trusting_home(folder: Path, ca: Path) -> Path:
    """Add an authority where Chromium looks for those of a user; returns the user's home.

    With certutil of NSS, which `make tools` installs.
    """
    store = folder / ".pki/nssdb"
    store.mkdir(parents=True)
    database = ("certutil", "-d", f"sql:{store}")
    subprocess.run([*database, "-N", "--empty-password"], check=True)
    subprocess.run([*database, "-A", "-n", "test", "-t", "C,,", "-i", ca], check=True)
    return folder
