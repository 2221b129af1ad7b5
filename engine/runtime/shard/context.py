"""Where a desk stands: one slot of one node, the ways to it, and for how long it is ours."""

from typing import Protocol

from msgspec import Struct, field

from engine.calls.model import causes
from engine.calls.model.commands import Hangup
from engine.observe.metrics import Meter
from engine.runtime.base.ports import CallRecorder, Pbx
from engine.runtime.pbx.ari_requests import requests_for
from engine.runtime.pbx.endpoints import EndpointTemplates


class Lease(Protocol):
    """How long the slot is ours."""

    @property
    def holds(self) -> bool:
        """Whether nobody else can have it yet."""


class _Forever:
    holds = True


class ShardContext(Struct, frozen=True):
    """One slot of one node, as the engine that holds it sees it."""

    node: str
    slot: int
    pbx: Pbx
    plan: EndpointTemplates
    tapes: CallRecorder | None = None  # without, nothing is recorded here
    lease: Lease = _Forever()
    meter: Meter = field(default_factory=Meter)

    def dismiss(self, channel: str, cause: int = causes.NORMAL) -> None:
        """Hang up a channel that is no call's, or will not be one."""
        hangup = requests_for(Hangup(channel, cause), self.plan)[0]
        self.pbx.send(hangup, channel, False, lambda _reply: None)
