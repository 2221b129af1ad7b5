"""`switchroom dev` and `switchroom dev up`: everything from a bare installation to a ready lab."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from rich.console import Console

from base.exit_status import ExitStatus
from dev.caller import sudo_caller
from dev.errors import BadOption, LabError, PackagesMissing, UnusableFolder
from dev.lab.env_file import API_URL, write_dotenv
from dev.lab.folder import locked, normal_folder
from dev.lab.git_exclude import exclude_from_git
from dev.lab.lifecycle import Lab
from dev.lab.plan import DOTENV, MAX_NODES, PORTS, Plan, default_folder, read_plan
from dev.lab.settings import settings_path
from dev.lab.summary import kept_names, summary
from dev.pbx.choice import Machine, Provider, choose, provide, wanted_provider
from dev.pbx.debian_root import cache_dir
from dev.progress import Progress
from dev.servers.ports import outgoing_ports
from dev.setup.disk import megabytes, used_bytes
from dev.setup.python_packages import FURTHER_EXTRAS, install_packages, missing_here


class StartOptions(NamedTuple):
    """What a developer typed; None is what was not typed."""

    folder: Path | None
    nodes: int | None
    port_base: int | None
    pbx: str
    settings: Path | None


async def start(options: StartOptions, console: Console) -> tuple[Lab, float]:
    """Start a lab and return it with the seconds that it took."""
    progress = Progress(console)
    async with prepared(options, progress) as lab:
        try:
            await lab.start(progress)
        except LabError as error:
            if lab.is_running():
                error.add_note("`switchroom dev down` stops what has started")
            raise
    progress.say(f"state {megabytes(used_bytes(lab.folder))}, "
                 f"free disk {megabytes(shutil.disk_usage(lab.folder).free)}")  # fmt: skip
    return lab, progress.elapsed_s


async def run_in_foreground(options: StartOptions, console: Console) -> int:
    """Run a lab until a signal, or until a server ends too often; stop all of it."""
    progress = Progress(console)
    if (task := asyncio.current_task()) is not None:
        # The servers outlive this process. A program that a script starts in the background ignores
        # SIGINT unless it has a handler of its own.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    async with prepared(options, progress) as lab:
        try:
            await lab.start(progress)
        except BaseException:
            await lab.stop(Progress(console))
            raise
    try:
        sys.stdout.write(f"{summary(lab, progress.elapsed_s)}\nCtrl-C stops all of it\n")
        sys.stdout.flush()
        ended = await lab.watch(progress)
    finally:
        if lab.folder.exists():  # it was not deleted by another command
            async with locked(lab.folder, progress.say):
                await lab.stop(Progress(console))
    if ended is None:
        return ExitStatus.DONE
    progress.say(f"{ended.name} ends again and again, so all was stopped; its log: {ended.log}")
    return ExitStatus.NEGATIVE


@asynccontextmanager
async def prepared(options: StartOptions, progress: Progress) -> AsyncIterator[Lab]:
    """Install what is missing, choose a PBX, write the settings, and yield the locked lab."""
    folder = normal_folder(options.folder or default_folder())
    plan = new_plan(read_plan(folder) or Plan(), options)
    caller = sudo_caller(os.environ, Path(), os.geteuid())
    if not plan_is_running(folder):
        provider = await asyncio.to_thread(choose, wanted_provider(options.pbx), Machine())
        plan = replace(plan, pbx=provider)
        tasks = [asyncio.to_thread(_provide_pbx, provider, progress)]
        if caller is None or not caller.owns(Path(sys.prefix)):
            tasks.append(asyncio.to_thread(install_missing, progress))
        await asyncio.gather(*tasks)  # both take most of a minute on a new machine
    # Docker may be one that only root can use
    if caller is not None and plan.pbx != "docker" and caller.can_run_this():
        caller.make_owner(cache_dir().parent, cache_dir(), DOTENV)
        caller.take_over()
    await asyncio.to_thread(install_missing, progress)
    async with locked(folder, progress.say):
        before = read_plan(folder)
        if before is not None and Lab.find(folder).is_running():
            if _differs(plan, before):
                raise BadOption("the lab runs with other options: `switchroom dev down` stops it")
            plan = before
        dotenv = plan.settings or str(DOTENV.absolute())
        lab = Lab.create(folder, replace(plan, dotenv=dotenv))
        if not plan.settings:
            _write_dotenv(lab, progress)
        for text in exclude_from_git((Path(dotenv), lab.folder)):
            progress.say(text)
        if note := plan.ports_note(outgoing_ports()):
            progress.say(note)
        try:
            yield lab
        finally:
            if caller is not None and os.geteuid() == 0:
                caller.make_owner(DOTENV, *_within(folder, caller.home))


def _within(folder: Path, home: Path) -> list[Path]:
    """Return a folder, what is in it, and the folders that lead there from a user's home."""
    above = [each for each in folder.parents if each.is_relative_to(home) and each != home]
    return [*above, folder, *folder.rglob("*")]


def new_plan(before: Plan, options: StartOptions) -> Plan:
    """Return the plan of the last start with what was typed; raises BadOption."""
    nodes = before.nodes if options.nodes is None else options.nodes
    base = before.port_base if options.port_base is None else options.port_base
    if not 1 <= nodes <= MAX_NODES:
        raise BadOption(f"--nodes: expected 1 or {MAX_NODES}")
    if base and base not in PORTS:
        raise BadOption(f"--port-base: expected 0, or {PORTS.start} to {PORTS.stop - 1}")
    settings = str(options.settings.absolute()) if options.settings else before.settings
    return Plan(nodes, base, before.pbx, settings)


def plan_is_running(folder: Path) -> bool:
    return read_plan(folder) is not None and Lab.find(folder).is_running()


def install_missing(progress: Progress) -> None:
    """Install the Python packages that the programs of the lab need.

    Speech recognizers have no packages for some machines; the lab runs without them, too.
    """
    if not (missing := missing_here()):
        return
    _install(missing, progress)
    try:
        _install(missing_here(FURTHER_EXTRAS), progress)
    except PackagesMissing as error:
        progress.say(f"without speech recognizers: {error}")


def _install(missing: Sequence[str], progress: Progress) -> None:
    if not missing:
        return
    with progress.step("Python packages") as step:
        step.note(f"installing {len(missing)} and what they need into {sys.prefix}")
        added = install_packages(missing)
        step.note(f"{added.packages} packages, {megabytes(added.bytes)} in {sys.prefix}")


def _provide_pbx(provider: Provider, progress: Progress) -> None:
    with progress.step(f"Asterisk ({provider})") as step:
        provide(provider, step.note)


def _differs(plan: Plan, before: Plan) -> bool:
    return (plan.nodes, plan.port_base) != (before.nodes, before.port_base)


def _write_dotenv(lab: Lab, progress: Progress) -> None:
    path = DOTENV.absolute()
    rest = f"http://127.0.0.1:{lab.plan.ports().api}"
    try:
        kept = write_dotenv(
            path, {API_URL: rest, **lab.settings}, settings_path(lab.folder, lab.plan)
        )
    except OSError as error:
        raise UnusableFolder(error) from None
    progress.say(f"settings for commands in this folder: {path} (other lines in it stay)")
    if kept:
        progress.say(kept_names(kept, path))
