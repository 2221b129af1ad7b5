"""`switchroom new`: a sample application with the SDK, without a network or an engine."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from cyclopts import Parameter

from base.invalid_settings import InvalidSettings
from base.lab_folder import lab_settings_folder
from cli.errors import NO_SOURCE, UsageError, exit_on_errors
from cli.options.connection import DOTENV, client_settings
from cli.output import OutputFlag, shown, write_shown

Sample = Literal["ivr", "voicemail", "click-to-call", "survey", "after-hours"]
Framework = Literal["fastapi", "flask", "express"]
SDK = Path(__file__).parents[1] / "sdk"
PYTHON, TYPESCRIPT = SDK / "python", SDK / "typescript"
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc")
_URL = "http://127.0.0.1:3000"  # of the samples, unless PORT is set
_WITHOUT_NUMBER = {"click-to-call"}
_WITH_PAGE = {"click-to-call"}
_WITH_KEY = {"click-to-call", "after-hours"}  # they place calls
_KEY = "SWITCHROOM_API_KEY"
_NO_NPM = "npm is not on this machine: on Debian or Ubuntu, `apt install -y npm` as root"


@exit_on_errors
def new(  # noqa: PLR0913 - one parameter per option
    sample: Annotated[Sample, Parameter(name="SAMPLE", help="What the application does.")],
    folder: Annotated[
        Path | None, Parameter(name="DIR", help="Folder to create; default: the sample's name.")
    ] = None,
    *,
    fastapi: Annotated[bool, Parameter(help="In Python, with FastAPI.")] = False,
    flask: Annotated[bool, Parameter(help="In Python, with Flask.")] = False,
    express: Annotated[bool, Parameter(help="In TypeScript, with Express.")] = False,
    output: OutputFlag = "table",
) -> None:
    """Create an application from a sample, and print the commands that run it.

    Example: switchroom new ivr --fastapi
    """
    chosen: list[Framework] = []
    chosen += ["fastapi"] if fastapi else []
    chosen += ["flask"] if flask else []
    chosen += ["express"] if express else []
    if len(chosen) != 1:
        raise UsageError("one of --fastapi, --flask and --express is required")
    project = create_project(sample, chosen[0], folder or Path(sample))
    how = instructions(sample, chosen[0], project, os.environ)
    value = {"folder": str(project.folder), "commands": list(how.commands)}
    write_shown(shown(value, "\n".join(how.lines)), output)


class Project(NamedTuple):
    """A folder with a sample, and the commands that install and run it."""

    folder: Path
    commands: tuple[str, str]


def create_project(sample: Sample, framework: Framework, folder: Path) -> Project:
    """Write a sample to a folder that is empty or does not exist; raises UsageError."""
    _check_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _copy_files(SDK / "samples" / sample, folder)  # what all frameworks share
        if framework == "express":
            return _write_typescript(sample, folder)
        return _write_python(sample, framework, folder)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}") from None


def _check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name another folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: name another folder")


def _write_python(sample: Sample, framework: str, folder: Path) -> Project:
    source = PYTHON / "samples" / sample.replace("-", "_")
    shutil.copy(source / f"{framework}_app.py", folder / "app.py")
    requirements = PYTHON / f"samples/requirements-{framework}.txt"
    shutil.copy(requirements, folder / "requirements.txt")
    shutil.copytree(PYTHON / "switchroom_sdk", folder / "switchroom_sdk", ignore=_NOT_COPIED)
    install = f"python -m pip install -r {_quoted(folder / 'requirements.txt')}"
    return Project(folder, (install, f"python {_quoted(folder / 'app.py')}"))


def _write_typescript(sample: Sample, folder: Path) -> Project:
    shutil.copy(TYPESCRIPT / "samples" / sample / "app.ts", folder)
    _copy_files(TYPESCRIPT / "samples/shared", folder)
    package = json.loads((folder / "package.json").read_text())
    (folder / "package.json").write_text(json.dumps({"name": sample, **package}, indent=2) + "\n")
    sdk = folder / "switchroom-sdk"
    shutil.copytree(TYPESCRIPT / "src", sdk / "src", ignore=_NOT_COPIED)
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(TYPESCRIPT / name, sdk)
    where = f"--prefix {_quoted(folder)}"
    return Project(folder, (f"npm install {where}", f"npm start {where}"))


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _copy_files(source: Path, folder: Path) -> None:
    for path in source.iterdir():
        shutil.copy(path, folder)


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
