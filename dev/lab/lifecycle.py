"""Starts, watches and stops the servers of a lab."""

import asyncio
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from base.child_processes import kill
from base.exit_status import ExitStatus
from dev.caller import sudo_command
from dev.errors import LabError, NotStarted, PortTaken, ServerFailed, ToolMissing, UnusableFolder
from dev.lab.folder import LOCK_FILE, locked
from dev.lab.plan import FILE as PLAN_FILE
from dev.lab.plan import Plan, read_plan, write_plan
from dev.lab.servers import LabSpeech, servers, title_of
from dev.lab.settings import FILE as SETTINGS_FILE
from dev.lab.settings import ensure_settings, read_settings
from dev.pbx.docker import DockerNode
from dev.pbx.node import PbxNode
from dev.progress import Progress
from dev.servers.ports import taken_ports
from dev.servers.process import until
from dev.servers.server import Ended, Server

_LOG_LINES = 15
_LOOKS_EVERY_S = 0.5
_RESTARTS = 20  # of each server: a developer may kill it, a broken one ends at once


class ServerState(NamedTuple):
    """One server, as `status` shows it."""

    name: str
    state: str
    log: Path


class Lab:
    """The servers of one folder."""

    def __init__(self, folder: Path, plan: Plan, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.plan = plan
        self.settings = settings
        self._servers = servers(folder, plan, settings)

    @classmethod
    def create(cls, folder: Path, plan: Plan) -> "Lab":
        """Return a lab whose plan and settings are written; its folder is locked.

        Raises UnusableFolder.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_plan(folder, plan)
            return cls(folder, plan, ensure_settings(folder, plan))
        except OSError as error:
            raise UnusableFolder(error) from None

    @classmethod
    def find(cls, folder: Path) -> "Lab":
        """Return the lab that was started in a folder; raises NotStarted."""
        plan = read_plan(folder)
        if plan is None:
            raise NotStarted(folder)
        try:
            return cls(folder, plan, read_settings(folder, plan))
        except OSError as error:
            raise UnusableFolder(error) from None

    async def start(self, progress: Progress) -> None:
        """Start the servers that do not run, and return when all are ready."""
        for server, ports in self._servers.items():
            with progress.step(title_of(server)) as step:
                step.note(", ".join(f"port {port}" for port in ports))
                await _ensure_running(server, ports)

    async def stop(self, progress: Progress) -> None:
        """Stop all servers, those that use others first; raises ServerFailed at the end."""
        failures = []
        for server in reversed(list(self._servers)):
            try:
                await _stop(server, progress)
            except (LabError, OSError) as error:  # the others have to end too
                failures.append(f"{title_of(server)} could not be stopped: {_reason(error)}")
        if failures:
            raise ServerFailed("; ".join(failures))

    @property
    def has_speech(self) -> bool:
        """Whether it has speech recognizers."""
        return any(isinstance(each, LabSpeech) for each in self._servers)

    def nodes(self) -> dict[str, PbxNode]:
        """Return the PBX nodes by name."""
        return {each.name: each for each in self._servers if isinstance(each, PbxNode)}

    async def stop_phone(self) -> None:
        """Stop the phone behind the trunk, so that another one can have its port."""
        await list(self._servers)[-1].stop()

    async def watch(self, progress: Progress) -> ServerState | None:
        """Start servers again that end, until a signal, or until another command stops them.

        Return a server that ends too often.
        """
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, stopped.set)
        left = dict.fromkeys(self._servers, _RESTARTS)
        while not stopped.is_set():
            for server, ports in self._servers.items():
                if server.running():
                    continue
                async with locked(self.folder, progress.say):
                    if server.was_stopped():
                        progress.say("another command stops the lab")
                        return None
                    if server.running():  # another command has started it
                        continue
                    if not left[server]:
                        return ServerState(title_of(server), "down", server.log)
                    left[server] -= 1
                    with progress.step(f"{title_of(server)} again") as step:
                        step.note("it had ended")
                        await _ensure_running(server, ports)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOKS_EVERY_S):
                    await stopped.wait()
        return None

    async def states(self) -> list[ServerState]:
        """Return the state of each server."""
        found = []
        for server in self._servers:
            running = server.running()
            state = "down" if not running else "up" if await server.is_ready() else "not ready"
            found.append(ServerState(title_of(server), state, server.log))
        return found

    def is_running(self) -> bool:
        return any(server.running() for server in self._servers)

    def logs(self) -> list[Path]:
        """Return the log files that exist."""
        found = [*self.folder.glob("*/output.log"), *self.folder.glob("*/var/log/*.log")]
        return sorted(found)

    def delete(self) -> None:
        """Delete the state: all folders and files that a lab creates, and nothing else."""
        for server in self._servers:
            if isinstance(server, DockerNode):
                server.delete_files()
            shutil.rmtree(server.folder, ignore_errors=True)
        for name in (PLAN_FILE, SETTINGS_FILE, LOCK_FILE):
            (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # it has other files
            self.folder.rmdir()


async def _stop(server: Server, progress: Progress) -> None:
    if server.running():
        with progress.step(f"stop {title_of(server)}"):
            await server.stop()
    else:
        await server.stop()  # it may have left files


def _reason(error: LabError | OSError) -> str:
    if isinstance(error, PermissionError):
        return f"it belongs to another user; `{sudo_command()}`"
    return str(error)


async def _ensure_running(server: Server, ports: tuple[int, ...]) -> None:
    try:
        if server.running():
            await until(server.is_ready, timeout_s=server.ready_within_s, what=str(server.log))
            return
        if isinstance(server, DockerNode):
            await asyncio.to_thread(server.remove_container)
        if taken := taken_ports(ports):
            raise PortTaken(title_of(server), taken[0])
        await server.start()
    except TimeoutError:
        reason = f"was not ready after {server.ready_within_s:.0f} s"
        raise ServerFailed(_failure(server, reason)) from None
    except OSError as error:
        raise UnusableFolder(error) from None
    except Ended:
        raise ServerFailed(_failure(server, "ended before it was ready")) from None


def _failure(server: Server, reason: str) -> str:
    try:
        lines = server.log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    except FileNotFoundError:
        lines = []
    return "\n  ".join((f"{title_of(server)} {reason}; the end of {server.log}:", *lines))


_LINES = "20"


async def follow(files: Sequence[Path]) -> int:
    """Print the end of the files and what is added to them, until a signal."""
    try:
        tail = await asyncio.create_subprocess_exec("tail", "-n", _LINES, "-F", *map(str, files))
    except FileNotFoundError:
        raise ToolMissing("tail", "install coreutils") from None
    try:
        await tail.wait()
    finally:
        kill(tail)  # Ctrl-C has reached it too
        await tail.wait()
    return ExitStatus.DONE
