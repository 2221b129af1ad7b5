"""Starts, mutes and stops the recording of legs by MixMonitor, over AMI."""

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Struct

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.ari.generated.operations import channels
from engine.calls.model.commands import MuteRecording, StartRecording, StopRecording
from engine.runtime.base.interfaces import Pbx

# Relative to Asterisk's monitor folder: ARI serves and deletes the files of this folder only.
RECORDING_FOLDER = "../recording"
FILENAME_VARIABLE = "MIXMONITOR_FILENAME"
NO_CHANNEL = "No such channel"
MixMonitorCommand = StartRecording | MuteRecording | StopRecording
IsAllowed = Callable[[], bool]


class Ami(Protocol):
    """A PBX's manager interface; `engine.ami.client` implements it."""

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Send an action; raises AmiUnavailable."""


class LeaseLost(Exception):
    """Another engine may own the call by now."""


class MixMonitor(Struct, frozen=True):
    """Executes one command at a time; every command may be repeated."""

    pbx: Pbx
    ami: Ami

    async def execute(self, command: MixMonitorCommand, is_allowed: IsAllowed) -> None:
        """Execute a command; raises AmiUnavailable, or LeaseLost if it is not allowed."""
        match command:
            case StartRecording(leg, name):
                if await self._current_file(leg) != name:
                    file = f"{RECORDING_FOLDER}/{name}.raw"
                    fields = {"Channel": leg, "File": file, "Options": "D"}
                    response = await self._send_action("MixMonitor", fields, is_allowed)
                    if not response.is_ok and response.message != NO_CHANNEL:
                        raise AmiUnavailable(response.message)
            case MuteRecording(leg, muted):
                state = "1" if muted else "0"
                fields = {"Channel": leg, "Direction": "both", "State": state}
                await self._send_action("MixMonitorMute", fields, is_allowed)
            case StopRecording(leg, name):
                if await self._current_file(leg) == name:
                    await self._send_action("StopMixMonitor", {"Channel": leg}, is_allowed)

    async def _send_action(
        self, action: str, fields: dict[str, str], is_allowed: IsAllowed
    ) -> AmiResponse:
        if not is_allowed():
            raise LeaseLost
        return await self.ami.ask(action, fields)

    async def _current_file(self, leg: str) -> str:
        """Return the name of the file that a leg is or was last recorded to."""
        reply = await self.pbx.ask(channels.get_channel_var(leg, variable=FILENAME_VARIABLE))
        if reply.status == 0:
            raise AmiUnavailable("the PBX gave no answer")
        found = msgspec.json.decode(reply.body, type=dict[str, str]) if reply.ok else {}
        return found.get("value", "").rpartition("/")[2].removesuffix(".raw")
