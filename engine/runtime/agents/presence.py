"""Which endpoints are registered at one node: asked once, then told by its events.

An endpoint's subscription brings all events of its channels too, so the trunk's is left out, and
no endpoint is subscribed to as a whole technology (docs/asterisk.md).
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import structlog
from msgspec import Struct

from engine.ari.decode import UnknownEvent
from engine.ari.generated import events
from engine.ari.generated.events import (
    ApplicationReplaced,
    ChannelUserevent,
    Message,
    PeerStatusChange,
)
from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import applications, endpoints
from engine.ari.request import Request
from engine.runtime.base.ports import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable
from wire.agents import Presence
from wire.base import tag_of

log = structlog.get_logger()
APP = "switchroom-presence"  # the same in every life: Asterisk keeps what an app listens to
TECHNOLOGY = "PJSIP"
RETRY_DELAY_S = 1.0
SUBSCRIPTION_BATCH = 50  # a request line has a length
UNUSED_EVENTS = tuple(
    tag_of(shape)
    for shape in events.Event.__args__
    if shape not in {PeerStatusChange, ApplicationReplaced, ChannelUserevent}
)
_endpoints = msgspec.json.Decoder(list[Endpoint])


class _Listening(Struct, frozen=True):
    endpoint_ids: list[str]


class NodePresence:
    """The listener of one node: its endpoints and whether they are online; none while unheard."""

    def __init__(
        self, node: str, pbx: Pbx, is_trunk: Callable[[str], bool], period_s: float = 30
    ) -> None:
        self.node = node
        self._pbx = pbx
        self._is_trunk = is_trunk
        self._period_s = period_s
        self._states: dict[str, Presence] | None = None
        self._told: dict[str, Presence] = {}  # since the last look began
        self._task: asyncio.Task[None] | None = None

    @property
    def is_heard(self) -> bool:
        """Whether anything is known of this node's endpoints."""
        return self._states is not None

    def of(self, endpoint: str) -> Presence:
        """Tell whether an endpoint is registered here."""
        return (self._states or {}).get(endpoint, "unknown")

    def knows(self, endpoint: str) -> bool:
        """Tell whether there is such an endpoint here."""
        return endpoint in (self._states or {})

    def on_connected(self) -> None:
        """Look, and again from time to time: endpoints that are configured later join then."""
        self._task = asyncio.get_running_loop().create_task(self._kept())

    def on_event(self, event: Message | UnknownEvent) -> None:
        """Take a change of an endpoint."""
        if isinstance(event, PeerStatusChange):
            name, state = _state(event.endpoint)
            self._told[name] = state
            if self._states is not None:
                self._states[name] = state

    def on_disconnected(self, _reason: str) -> None:
        """Know nothing."""
        self._forget()

    def on_replaced(self) -> None:
        """Know nothing: another engine listens now."""
        log.warning("presence is another engine's", node=self.node)
        self._forget()

    async def close(self) -> None:
        """Stop looking."""
        task = self._task
        self._forget()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    def _forget(self) -> None:
        self._states = None
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _kept(self) -> None:
        while True:
            try:
                await self._look()
                pause_s = self._period_s
            except (PbxUnavailable, msgspec.DecodeError) as error:
                log.warning("presence not seen", node=self.node, error=str(error))
                pause_s = RETRY_DELAY_S
            await asyncio.sleep(pause_s)

    async def _look(self) -> None:
        """Read all states; what was told meanwhile is newer. Raises PbxAway."""
        self._told = {}
        states = await self._listed()
        if missing := sorted(states.keys() - await self._listening()):
            for first in range(0, len(missing), SUBSCRIPTION_BATCH):
                await self._listen(missing[first : first + SUBSCRIPTION_BATCH])
            states = await self._listed()
        self._states = {**states, **self._told}

    async def _listed(self) -> dict[str, Presence]:
        body = await self._ask(endpoints.list_by_tech(TECHNOLOGY))
        states = dict(map(_state, _endpoints.decode(body)))
        return {name: state for name, state in states.items() if not self._is_trunk(name)}

    async def _listening(self) -> set[str]:
        body = await self._ask(applications.get(APP))
        return set(msgspec.json.decode(body, type=_Listening).endpoint_ids)

    async def _listen(self, names: Sequence[str]) -> None:
        sources = [f"endpoint:{name}" for name in names]
        await self._ask(applications.subscribe(APP, event_source=sources))

    async def _ask(self, request: Request) -> bytes:
        reply = await self._pbx.ask(request)
        if not reply.ok:
            raise PbxUnavailable(f"{request.path}: status {reply.status}")
        return reply.body


def _state(endpoint: Endpoint) -> tuple[str, Presence]:
    return f"{endpoint.technology}/{endpoint.resource}", endpoint.state or "unknown"
