"""The context of a shard: its slot and PBX node, the connections to it, and its lease."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from engine.ari.generated.operations import channels
from engine.calls.model import causes
from engine.calls.model.commands import DestroyBridge, Hangup
from engine.calls.recovery.missed_digits import DigitsByLeg, KeysDown
from engine.observe.metrics import Metrics
from engine.runtime.base.interfaces import CallRecorder, Pbx, StreamRunner
from engine.runtime.pbx.ari_requests import requests_for
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from engine.runtime.policy.leg_counter import LegCounter
from engine.store.store import LeaseView
from wire.shard import ShardId


class ShardHost(Protocol):
    """The PBX node that a shard belongs to; `engine.runtime.pbx_nodes.node` implements it."""

    def logged_digits(self) -> DigitsByLeg:
        """Return the node's recent digits, as AMI reported them."""

    def forget_digits(self, leg: str) -> None:
        """Forget the digits of a leg, as AMI reported them."""

    def keys_down(self) -> KeysDown:
        """Return when the keys that are down went down, by leg, as AMI reported them."""

    def on_reply_lost(self, slot: int) -> None:
        """Recover a slot's calls: a request may or may not have been executed."""


class _Unlimited:
    """The lease of an engine that shares its shards with no other."""

    token = 0
    holds = True
    unseen_ms = 0


class ShardContext(Struct, frozen=True):
    """One slot on one PBX node, as the engine that owns it sees it."""

    node: str
    slot: int
    pbx: Pbx
    endpoints: EndpointTemplates
    recorder: CallRecorder | None = None  # without one, calls are not recorded
    lease: LeaseView = _Unlimited()
    metrics: Metrics = field(default_factory=Metrics)
    legs: LegCounter = field(default_factory=LegCounter)  # of the engine
    streams: StreamRunner | None = None  # without one, no stream starts

    @property
    def id(self) -> ShardId:
        return ShardId(self.node, self.slot)

    def hang_up_channel(self, channel: str, cause: int = causes.NORMAL) -> None:
        """Hang up a channel that belongs to no call."""
        hangup = requests_for(Hangup(channel, cause), self.endpoints)[0]
        self.pbx.send(hangup, channel, False, lambda _reply: None)

    def destroy_bridge(self, bridge: str) -> None:
        """Destroy a bridge that belongs to no call."""
        destruction = requests_for(DestroyBridge(bridge), self.endpoints)[0]
        self.pbx.send(destruction, bridge, False, lambda _reply: None)

    def pass_channel_on(
        self, channel: str, slot: int, number: str, on_failed: Callable[[], None]
    ) -> None:
        """Let the dialplan offer a channel that belongs to no call to another slot of the node."""
        request = channels.continue_in_dialplan(
            channel, context="passed-on", extension=f"{slot:03}{number}"
        )
        self.pbx.send(request, channel, False, lambda reply: None if reply.ok else on_failed())
