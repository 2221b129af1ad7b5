"""Taping: what is asked of a PBX's manager so that a leg is recorded, silent on tape, or not."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.ari.generated.operations import channels
from engine.calls.model.commands import MuteRecording, StartRecording, StopRecording
from engine.runtime.base.ports import Pbx

RECORDING_FOLDER = (
    "../recording"  # from where Asterisk puts monitors: there ARI serves and deletes them
)
FILENAME_VARIABLE = "MIXMONITOR_FILENAME"
NO_CHANNEL = "No such channel"
MixMonitorCommand = StartRecording | MuteRecording | StopRecording
IsAllowed = Callable[[], bool]


class Ami(Protocol):
    """A PBX's manager interface; `ami.client.Ami` is the real one."""

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Ask for an action; raises AmiAway."""


class LeaseLost(Exception):
    """The call may be another engine's by now."""


class MixMonitor:
    """Does one command after another; each may be done twice."""

    def __init__(self, pbx: Pbx, ami: Ami) -> None:
        self._pbx = pbx
        self._ami = ami

    async def execute(self, command: MixMonitorCommand, may: IsAllowed) -> None:
        """Do a command; raises AmiAway, and Stale when it may not be done any more."""
        match command:
            case StartRecording(leg, name):
                if await self._shown(leg) != name:
                    file = f"{RECORDING_FOLDER}/{name}.raw"
                    fields = {"Channel": leg, "File": file, "Options": "D"}
                    answer = await self._order("MixMonitor", fields, may)
                    if not answer.is_ok and answer.message != NO_CHANNEL:
                        raise AmiUnavailable(answer.message)
            case MuteRecording(leg, muted):
                state = "1" if muted else "0"
                fields = {"Channel": leg, "Direction": "both", "State": state}
                await self._order("MixMonitorMute", fields, may)
            case StopRecording(leg, name):
                if await self._shown(leg) == name:
                    await self._order("StopMixMonitor", {"Channel": leg}, may)

    async def _order(self, action: str, fields: dict[str, str], may: IsAllowed) -> AmiResponse:
        if not may():
            raise LeaseLost
        return await self._ami.ask(action, fields)

    async def _shown(self, leg: str) -> str:
        """Name the tape that runs on a leg, or ran on it last."""
        reply = await self._pbx.ask(channels.get_channel_var(leg, variable=FILENAME_VARIABLE))
        if reply.status == 0:
            raise AmiUnavailable("the PBX gave no answer")
        shown = _value(reply.body) if reply.ok else ""
        return shown.rpartition("/")[2].removesuffix(".raw")


def _value(body: bytes) -> str:
    return msgspec.json.decode(body, type=dict[str, str]).get("value", "")
