"""`switchroom dev`: a lab on this machine, from its start to a call to it.

Imports of the lab are in the functions: other commands load this module for its help.
"""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.console import Console

from base.exit_status import ExitStatus
from cli.help import with_example
from cli.output import OutputFlag, rows_shown, shown, write_shown
from dev.caller import sudo_caller
from dev.errors import LabError
from wire.error_codes.hint import failure_lines

Folder = Annotated[
    Path | None,
    Parameter(name="--dir", help="Folder of the state; default: ~/.local/state/switchroom/dev."),
]
Nodes = Annotated[int | None, Parameter(help="PBX nodes, 1 or 2; default: as before, or 1.")]
PortBase = Annotated[
    int | None,
    Parameter(
        help="First of some 500 ports in a row; default: as before, or the usual ones (8070, 8000,"
        " 6390, 5060, 5080, 8088, 5038); 0 for those. From 32768 on, mostly, outgoing connections"
        " may have one of them."
    ),
]
Provider = Annotated[
    Literal["docker", "path", "debian"] | None,
    Parameter(
        name="--pbx",
        help="Where Asterisk comes from: a container, the PATH, or a private Debian root;"
        " default: SWITCHROOM_PBX, or the first that this machine has.",
    ),
]
SettingsFile = Annotated[
    Path | None,
    Parameter(
        name="--settings",
        help="File that keeps all settings, instead of DIR/settings.env and a part of .env.",
    ),
]
KeptSettings = Annotated[
    Path | None,
    Parameter(
        name="--settings",
        help="File that keeps the lab's settings: the folder in it is the default of --dir.",
    ),
]


_TEXT = "Run a lab on this machine: PBX, store, engine, REST layer and a phone that answers."

_MORE = (
    "Without a command it runs until Ctrl-C, which stops all of it; its state is kept, and a server"
    " that ends is started again. The first"
    " start installs the Python packages that the programs need, and gets an Asterisk. The settings"
    " are written to a part of .env in this folder, so that commands here reach the lab.\n\n"
    "Exit status: 0 it was stopped, 1 a server ends again and again, 2 it could not start."
)
dev = App(name="dev", help=with_example(f"{_TEXT}\n\n{_MORE}", "dev"), version_flags=())


@dev.default
def run_here(
    *,
    folder: Folder = None,
    nodes: Nodes = None,
    port_base: PortBase = None,
    pbx: Provider = None,
    settings: SettingsFile = None,
) -> None:
    """Run the lab until Ctrl-C.

    Example: switchroom dev
    """

    async def work() -> int:
        from dev.lab.start import StartOptions, run_in_foreground  # noqa: PLC0415 - slow for other commands

        options = StartOptions(folder, nodes, port_base, pbx or "", settings)
        return await run_in_foreground(options, _console())

    _run(work())


@dev.command
def up(  # noqa: PLR0913 - one parameter per option
    *,
    folder: Folder = None,
    nodes: Nodes = None,
    port_base: PortBase = None,
    pbx: Provider = None,
    settings: SettingsFile = None,
    output: OutputFlag = "table",
) -> None:
    """Start what does not run, and return when all is ready.

    Example: switchroom dev up --nodes 2
    """

    async def work() -> int:
        from dev.lab.start import StartOptions, start  # noqa: PLC0415 - slow for other commands
        from dev.lab.summary import summary, summary_value  # noqa: PLC0415 - slow for other commands

        options = StartOptions(folder, nodes, port_base, pbx or "", settings)
        lab, elapsed_s = await start(options, _console())
        write_shown(shown(summary_value(lab), summary(lab, elapsed_s)), output)
        return ExitStatus.DONE

    _run(work())


@dev.command
def down(
    *, folder: Folder = None, settings: KeptSettings = None, output: OutputFlag = "table"
) -> None:
    """Stop all servers, the phone and the REST layer first; the state is kept.

    Example: switchroom dev down
    """

    async def work() -> int:
        from dev.lab.folder import locked  # noqa: PLC0415 - slow for other commands
        from dev.lab.lifecycle import Lab  # noqa: PLC0415 - slow for other commands
        from dev.progress import Progress  # noqa: PLC0415 - slow for other commands

        lab = Lab.find(_folder(folder, settings))
        progress = Progress(_console())
        async with locked(lab.folder, progress.say):
            await lab.stop(progress)
        write_shown(shown({"isRunning": False}), output)
        return ExitStatus.DONE

    _run(work())


@dev.command
def status(
    *, folder: Folder = None, settings: KeptSettings = None, output: OutputFlag = "table"
) -> None:
    """Show the state and the log file of each server.

    Exit status: 0 all are up, 1 one is not, 2 there is no lab.

    Example: switchroom dev status
    """

    async def work() -> int:
        from dev.lab.lifecycle import Lab  # noqa: PLC0415 - slow for other commands

        states = await Lab.find(_folder(folder, settings)).states()
        rows = [{"name": each.name, "state": each.state, "log": str(each.log)} for each in states]
        columns = [("server", "name"), ("state", "state"), ("log", "log")]
        write_shown(rows_shown(rows, columns, ""), output)
        is_up = all(each.state == "up" for each in states)
        return ExitStatus.DONE if is_up else ExitStatus.NEGATIVE

    _run(work())


@dev.command
def logs(*, folder: Folder = None, settings: KeptSettings = None) -> None:
    """Follow the log files of all servers until Ctrl-C.

    Example: switchroom dev logs
    """

    async def work() -> int:
        from dev.lab.lifecycle import Lab, follow  # noqa: PLC0415 - slow for other commands

        return await follow(Lab.find(_folder(folder, settings)).logs())

    _run(work())


@dev.command
def reset(
    *, folder: Folder = None, settings: KeptSettings = None, output: OutputFlag = "table"
) -> None:
    """Stop all servers and delete the state: calls, records, recordings, settings and logs.

    Installed packages and the private Debian root stay.

    Example: switchroom dev reset
    """

    async def work() -> int:
        from dev.lab.folder import locked  # noqa: PLC0415 - slow for other commands
        from dev.lab.lifecycle import Lab  # noqa: PLC0415 - slow for other commands
        from dev.progress import Progress  # noqa: PLC0415 - slow for other commands

        lab = Lab.find(_folder(folder, settings))
        progress = Progress(_console())
        async with locked(lab.folder, progress.say):
            await lab.stop(progress)
            lab.delete()
        write_shown(shown({"isDeleted": True}, f"deleted the state in {lab.folder}"), output)
        return ExitStatus.DONE

    _run(work())


@dev.command
def call(  # noqa: PLR0913 - one parameter per option
    number: Annotated[str, Parameter(help="Number to call, such as +4721930000.")],
    *,
    digits: Annotated[
        str,
        Parameter(
            help="Keys to press: 0 to 9, *, # and A to D; w is a pause of half a second, W of one; "
            "p is where --play or --say speaks."
        ),
    ] = "",
    after_s: Annotated[
        float, Parameter(help="Seconds from the answer to what the caller says, or the first key.")
    ] = 5,
    play: Annotated[
        Path | None,
        Parameter(help="WAV file of 16 bits that the caller says, at the p of --digits or first."),
    ] = None,
    say: Annotated[
        str | None, Parameter(help="Words that the caller says instead, in English.")
    ] = None,
    caller: Annotated[
        str, Parameter(name="--from", help="Number that is shown to the called party.")
    ] = "+4799999999",
    save: Annotated[Path | None, Parameter(help="WAV file of what the caller hears.")] = None,
    listen: Annotated[
        bool, Parameter(help="Play it after the call, if this machine has a player.", negative="")
    ] = False,
    sip: Annotated[
        str,
        Parameter(help="HOST:PORT of the PBX; default: the first node of .env, or of the lab."),
    ] = "",
    folder: Folder = None,
    output: OutputFlag = "table",
) -> None:
    """Call a number of the lab: a phone that presses keys, listens, and waits for the hangup.

    Exit status: 0 the call was answered, 1 rejected, 2 no PBX responds, 3 busy, 4 no answer.

    Example: switchroom dev call +4721930000 --digits 1 --save call.wav
    """

    async def work() -> int:
        from cli.phone import CallOptions, call_number  # noqa: PLC0415 - slow for other commands

        options = CallOptions(
            number, digits, after_s, play, caller, save, listen, sip, _folder(folder), say
        )
        found = await call_number(options, _console())
        write_shown(found, output)
        return found.status

    _run(work())


@dev.command(show=False)
def phone(
    *,
    port: Annotated[int, Parameter(help="UDP port of 127.0.0.1.")],
    save: Annotated[Path, Parameter(help="Folder of the WAV files.")],
) -> None:
    """Answer all calls to a port until SIGTERM; `switchroom dev` starts it.

    Example: switchroom dev phone --port 5080 --save phone
    """

    async def work() -> int:
        from cli.phone import answer_calls  # noqa: PLC0415 - slow for other commands

        return await answer_calls(port, save, Console(highlight=False, markup=False))

    _run(work())


def _folder(given: Path | None, settings: Path | None = None) -> Path:
    from dev.lab.folder import normal_folder  # noqa: PLC0415 - slow for other commands
    from dev.lab.plan import default_folder  # noqa: PLC0415 - slow for other commands

    return normal_folder(given or default_folder(settings))


def _console() -> Console:
    """Return where progress is shown: standard output is for results."""
    return Console(stderr=True, highlight=False, markup=False)


def _run(work: Coroutine[Any, Any, int]) -> None:
    """Run a command and exit with its status; an expected error is one sentence."""
    if (caller := sudo_caller(os.environ, Path(), os.geteuid())) is not None:
        os.environ["HOME"] = str(caller.home)  # which has the lab's folder; sudo sets root's
    try:
        status = asyncio.run(work)
    except LabError as error:
        message = "\n".join((str(error), *getattr(error, "__notes__", ())))
        _console().print(failure_lines("switchroom dev", message, error.code), soft_wrap=True)
        status = ExitStatus.NOT_DONE
    except (KeyboardInterrupt, asyncio.CancelledError):  # by SIGINT, or by another signal
        status = ExitStatus.INTERRUPTED
    raise SystemExit(status)
