"""npm for the TypeScript SDK and other packages with a lock file: or why they are not there.

`python -m tests.harness.npm check` is a part of `make check`: the SDK, and the console's modules.
`python -m tests.harness.npm vendored` builds the modules of others that the console uses.
"""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SDK = Path(__file__).parents[2] / "sdk/typescript"
CONSOLE = Path(__file__).with_name("console")
VENDORED = Path(__file__).parents[2] / "api/console/static/vendored"
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
    version = _run(("node", "--version"), SDK).stdout.strip()
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
        done = _run(("npm", command, "--prefer-offline", *_IMPATIENT), folder)
    except subprocess.TimeoutExpired:
        return f"npm {command} took longer than {_INSTALL_S} s"
    return "" if done.returncode == 0 else f"npm {command} failed: {done.stderr.strip()[-300:]}"


def run_script(name: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of the SDK's package."""
    return _run(("npm", "run", "--silent", name), SDK, env)


def _run(
    argv: tuple[str, ...], folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=_INSTALL_S
    )


def main(command: str) -> int:
    """Check both packages, or build the vendored modules; return the exit status."""
    if command == "vendored":
        done = _run_in_console(("npm", "run", "--silent", "build", "--", str(VENDORED)))
        return _report(done) if done else 1
    statuses = []
    if reason := install_sdk():
        sys.stderr.write(f"sdk/typescript is not checked: {reason}\n")
    else:
        statuses.append(_report(run_script(command)))
    checked = _run_in_console(("npm", "run", "--silent", command))
    return max((*statuses, _report(checked) if checked else 0))


def _run_in_console(argv: tuple[str, ...]) -> subprocess.CompletedProcess[str] | None:
    if reason := install_locked(CONSOLE):
        sys.stderr.write(f"the console's modules are left as they are: {reason}\n")
        return None
    return _run(argv, CONSOLE)


def _report(done: subprocess.CompletedProcess[str]) -> int:
    sys.stderr.write(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
