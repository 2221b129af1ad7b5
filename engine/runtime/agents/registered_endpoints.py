"""Which endpoints are registered at one node: read once, then updated by its events.

Subscribing to an endpoint brings all events of its channels, too. So the trunk's endpoint is left
out, and the technology as a whole is not subscribed to (docs/asterisk.md).
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import structlog
from msgspec import Struct

from engine.ari.events import UnknownEvent
from engine.ari.generated import events
from engine.ari.generated.events import (
    ApplicationReplaced,
    ChannelUserevent,
    Message,
    PeerStatusChange,
)
from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import applications, endpoints
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from wire.agents import TECHNOLOGY, Presence
from wire.base import tag_of

log = structlog.get_logger()
APP = "switchroom-presence"  # the same for every engine: Asterisk keeps an app's subscriptions
RETRY_DELAY_S = 1.0
SUBSCRIPTION_BATCH = 50  # the length of a request line is limited
UNUSED_EVENTS = tuple(
    tag_of(shape)
    for shape in events.Event.__args__
    if shape not in {PeerStatusChange, ApplicationReplaced, ChannelUserevent}
)
_decoder = msgspec.json.Decoder(list[Endpoint])


class _Subscriptions(Struct, frozen=True):
    endpoint_ids: list[str]


_subscriptions = msgspec.json.Decoder(_Subscriptions)


class RegisteredEndpoints:
    """Listens to one node: which of its endpoints are online; nothing is known while it is away."""

    def __init__(
        self, node: str, pbx: Pbx, is_trunk: Callable[[str], bool], interval_s: float = 30
    ) -> None:
        self.node = node
        self._pbx = pbx
        self._is_trunk = is_trunk
        self._interval_s = interval_s
        self._states: dict[str, Presence] | None = None
        self._changes: dict[str, Presence] = {}  # since the last read began
        self._task: asyncio.Task[None] | None = None

    @property
    def is_known(self) -> bool:
        """Whether the state of this node's endpoints is known."""
        return self._states is not None

    def of(self, endpoint: str) -> Presence:
        """Return an endpoint's registration at this node."""
        return (self._states or {}).get(endpoint, "unknown")

    def knows(self, endpoint: str) -> bool:
        return endpoint in (self._states or {})

    def on_connected(self) -> None:
        """Read all states, and again at intervals, to find endpoints configured later."""
        self._task = asyncio.get_running_loop().create_task(self._poll())

    def on_event(self, event: Message | UnknownEvent) -> None:
        if isinstance(event, PeerStatusChange):
            name, state = _state(event.endpoint)
            self._changes[name] = state
            if self._states is not None:
                self._states[name] = state

    def on_disconnected(self, _reason: str, _silent_ms: int) -> None:
        self._forget()

    def on_replaced(self) -> None:
        log.warning("presence taken over by another engine", node=self.node)
        self._forget()

    async def close(self) -> None:
        task = self._task
        self._forget()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    def _forget(self) -> None:
        self._states = None
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _poll(self) -> None:
        while True:
            pause_s = RETRY_DELAY_S
            try:
                await self._read()
                pause_s = self._interval_s
            except PbxUnavailable as error:
                log.warning("presence not read", node=self.node, error=str(error))
            except Exception:
                log.exception("presence not read", node=self.node)  # the next read may succeed
            await asyncio.sleep(pause_s)

    async def _read(self) -> None:
        """Read all states; changes since then are newer. Raises PbxUnavailable."""
        self._changes = {}
        states = await self._list()
        if missing := sorted(states.keys() - await self._subscribed()):
            for first in range(0, len(missing), SUBSCRIPTION_BATCH):
                await self._subscribe(missing[first : first + SUBSCRIPTION_BATCH])
            states = await self._list()
        self._states = {**states, **self._changes}

    async def _list(self) -> dict[str, Presence]:
        found = await query(self._pbx, endpoints.list_by_tech(TECHNOLOGY), _decoder)
        states = dict(map(_state, found))
        return {name: state for name, state in states.items() if not self._is_trunk(name)}

    async def _subscribed(self) -> set[str]:
        found = await query(self._pbx, applications.get(APP), _subscriptions)
        return set(found.endpoint_ids)

    async def _subscribe(self, names: Sequence[str]) -> None:
        sources = [f"endpoint:{name}" for name in names]
        await query(self._pbx, applications.subscribe(APP, event_source=sources), _subscriptions)


def _state(endpoint: Endpoint) -> tuple[str, Presence]:
    return f"{endpoint.technology}/{endpoint.resource}", endpoint.state or "unknown"
