"""npm for the TypeScript SDK and other packages with a lock file: or why they are not there."""

import fcntl
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SDK = Path(__file__).parents[2] / "sdk/typescript"
CONSOLE = Path(__file__).with_name("console")
MIN_NODE = 18
_INSTALL_S = 300
# Without its registry, npm would try for minutes before each test that is then skipped.
_IMPATIENT = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000")


def missing_npm() -> str:
    """Return why npm cannot be used; empty if it can."""
    return "no npm on this machine" if shutil.which("npm") is None else missing_node()


def missing_node() -> str:
    """Return why Node cannot be used; empty if it can."""
    if shutil.which("node") is None:
        return "no Node on this machine"
    version = run(("node", "--version"), SDK).stdout.strip()
    major = int(version.removeprefix("v").partition(".")[0] or 0)
    return "" if major >= MIN_NODE else f"node {version} is older than {MIN_NODE}"


def install_sdk() -> str:
    """Install the packages of the SDK, and build; return why they are not there, if so."""
    if reason := install_locked(SDK):
        return reason
    with _locked(SDK):
        # Later builds have nothing to write; what is wrong fails them, and so their tests.
        run_script("build")
    return ""


def install_locked(folder: Path) -> str:
    """Install the packages of a folder's lock file; return why they are not there, if so."""
    if reason := missing_npm():
        return reason
    with _locked(folder):
        installed = folder / "node_modules/.package-lock.json"
        changed_s = (folder / "package-lock.json").stat().st_mtime
        is_new = not installed.exists() or installed.stat().st_mtime < changed_s
        return install(folder, "ci") if is_new else ""


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let other processes wait: tests run in several."""
    with (folder / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(folder: Path, command: str = "install") -> str:
    """Install the packages of a folder; return why that failed, if so."""
    if reason := missing_npm():
        return reason
    try:
        done = run(("npm", command, "--prefer-offline", *_IMPATIENT), folder)
    except subprocess.TimeoutExpired:
        return f"npm {command} took longer than {_INSTALL_S} s"
    return "" if done.returncode == 0 else f"npm {command} failed: {done.stderr.strip()[-300:]}"


def run_script(name: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of the SDK's package."""
    return run(("npm", "run", "--silent", name), SDK, env)


def run(
    argv: tuple[str, ...], folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    return subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=_INSTALL_S
    )
