"""The packages of npm: their checks, and the console's modules that others wrote.

python -m tools.npm check       # part of `make check`: the SDK, and the console's modules
python -m tools.npm vendored    # builds the modules of others that the console uses
"""

import subprocess
import sys
from pathlib import Path

from tests.harness.npm import CONSOLE, install_locked, install_sdk, run, run_script

VENDORED = Path(__file__).parents[1] / "api/console/static/vendored"


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
    return run(argv, CONSOLE)


def _report(done: subprocess.CompletedProcess[str]) -> int:
    sys.stderr.write(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
