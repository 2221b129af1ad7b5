"""What a user types to run a new application, and to let calls of the lab run it."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from base.invalid_settings import InvalidSettings
from base.lab_folder import lab_settings_folder
from cli.errors import NO_SOURCE, UsageError
from cli.new.project import Framework, Project, Sample
from cli.options.connection import DOTENV, client_settings

_URL = "http://127.0.0.1:3000"  # of the samples, unless PORT is set
_WITHOUT_NUMBER = {"click-to-call"}
_WITH_PAGE = {"click-to-call"}
_WITH_KEY = {"click-to-call", "after-hours"}  # they place calls
_KEY = "SWITCHROOM_API_KEY"
_NO_NPM = "npm is not on this machine: on Debian or Ubuntu, `apt install -y npm` as root"


class Instructions(NamedTuple):
    """The commands that install and run an application, and all lines about it."""

    commands: tuple[str, ...]
    lines: tuple[str, ...]


def instructions(
    sample: Sample, framework: Framework, project: Project, environ: Mapping[str, str]
) -> Instructions:
    """Return what makes an application run, typed in the folder of the command."""
    install, start = project.commands
    settings = settings_folder(environ)
    needs_key = sample in _WITH_KEY and _KEY not in environ
    loads = (_load(settings),) if needs_key and settings is not None else ()
    commands = (install, *loads, start)
    lacks_npm = framework == "express" and not shutil.which("npm", path=environ.get("PATH"))
    lines = [_NO_NPM] if lacks_npm else []
    lines += [f"created {project.folder}; run it:", *_indented(*commands)]
    if needs_key and settings is None:
        lines.append(f"its environment needs SWITCHROOM_API_URL and {_KEY}: README.md has more")
    if sample in _WITH_PAGE:
        lines.append(f"then open {_URL}/")
    if sample not in _WITHOUT_NUMBER:
        route = f"switchroom route set +4721930000 {_URL}/answer"
        lines.append("then, in a second terminal, let calls to a number run it:")
        lines += _indented(_entered(settings or Path.cwd()), route)
    return Instructions(commands, tuple(lines))


def settings_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the folder whose `.env` commands need: this one, or the one of this user's lab.

    None if a profile or the environment has the settings, or if there are none.
    """
    if DOTENV.exists():
        return Path.cwd()
    try:
        source = client_settings(environ=environ).source
    except (UsageError, InvalidSettings):
        return None  # the command that needs them says what is wrong
    return lab_settings_folder(environ) if source == NO_SOURCE else None


def _load(folder: Path) -> str:
    """Return what gives the settings of a folder to the programs that a terminal starts."""
    path = "./.env" if folder == Path.cwd() else shlex.quote(str(folder / ".env"))
    return f"set -a; . {path}; set +a"


def _entered(folder: Path) -> str:
    """Return what makes a new terminal like this one, in a folder where commands have settings."""
    activate = Path(sys.prefix, "bin/activate")
    entered = f"cd {shlex.quote(str(folder))}"
    return f"{entered} && . {shlex.quote(str(activate))}" if activate.exists() else entered


def _indented(*commands: str) -> list[str]:
    return [f"  {each}" for each in commands]
