"""What every store offers: `redis.RedisStore` in production, `memory.Memory`, its twin."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from engine.store.change import Change
from engine.store.dial_policy import DialPolicyStore
from engine.store.outbox import Outbox
from engine.store.stream import Stream

MAX_FLOW_VERSIONS = 100  # of a flow


class Store(Protocol):
    """Slots with their owners, calls, logs and events; documents of accounts; drained nodes.

    Every method may raise StoreDown, within a bounded time; each may then be called again.
    """

    @property
    def connections(self) -> int:
        """How many were made, one after the other: behind a new one may be a server that lags."""
        ...

    @property
    def stream(self) -> Stream:
        """What was told."""
        ...

    @property
    def outbox(self) -> Outbox:
        """What is due to customers."""
        ...

    @property
    def dial_policies(self) -> DialPolicyStore:
        """What accounts may dial."""
        ...

    async def claim(self, slot: int, owner: str, lease_ms: int, holder: str = "") -> int | None:
        """Make `owner` a slot's only writer for a while; None while another's lease runs.

        Returns a fencing token larger than all before. `holder`: who lives and says that he has the
        slot. Unless another had it after him it is free only if it was given back then: no clock is
        believed against his word.
        """
        ...

    async def renew(self, slot: int, token: int, lease_ms: int, number: int = 0) -> bool:
        """Make a lease last from now on; False when the slot is another's. 0 ms gives it back.

        `number`: of the last commit that was answered; raises Rewound when that is lost.
        """
        ...

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        """Note that an engine lives; returns all that do, by name. 0 ms: it leaves.

        Who is late itself slept, or the clock was set: then none of the others counts as dead.
        """
        ...

    async def owner(self, slot: int) -> str:
        """Name who holds a slot, or held it last; empty when nobody ever did."""
        ...

    def membership_changes(self) -> AsyncIterator[None]:
        """Wait for engines that come and go and slots that are given back, one by one.

        A hint only: some may be missed.
        """
        ...

    async def create(self, slot: int, token: int, change: Change) -> bool:
        """Store a new call; False when its id is taken, live or ended. Raises Fenced.

        The very same change again, while it is still the call's state, answers True: an owner that
        got no answer may ask again.
        """
        ...

    async def commit(
        self, slot: int, token: int, changes: Sequence[Change], number: int = 0
    ) -> int:
        """Store a batch, all or nothing, at most one change a call; raises Fenced.

        `number` is the batch's; the owner counts them, and a repetition has the same.
        Returns how many events found no room in the outbox and became dead letters.
        """
        ...

    def live(self, slot: int) -> AsyncIterator[tuple[str, str, bytes]]:
        """Read call id, node and state of every live call of a slot, page by page, each once."""
        ...

    async def read(self, slot: int, call_id: str) -> bytes | None:
        """Read a call's last state, live or ended; None when unknown or expired."""
        ...

    async def log(self, slot: int, call_id: str) -> list[bytes]:
        """Read a call's log in order; an entry that the store has lost reads as empty bytes."""
        ...

    async def put_flow(self, account: str, flow_id: str, body: bytes) -> int:
        """Store an account's flow and return its version; a version never changes."""
        ...

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        """Read a version of an account's flow, and its number; 0: the newest."""
        ...

    async def flows(self, account: str) -> dict[str, int]:
        """Read the newest version's number of each flow of an account."""
        ...

    async def flow_versions(self, account: str, flow_id: str) -> list[int]:
        """List the versions of a flow that are kept: the last VERSIONS_KEPT."""
        ...

    async def delete_flow(self, account: str, flow_id: str) -> bool:
        """Take a flow away, for calls that begin; its versions are kept for a day for the others.

        False when there is none.
        """
        ...

    async def put_request(self, account: str, request_id: str, body: bytes | None) -> None:
        """Store an account's API request (JSON), in place of the one before; None takes it out."""
        ...

    async def request(self, account: str, request_id: str) -> bytes | None:
        """Read an account's API request."""
        ...

    async def requests(self, account: str) -> dict[str, bytes]:
        """Read all API requests of an account, by id."""
        ...

    async def put_route(self, number: str, body: bytes | None) -> None:
        """Store what an inbound number runs (an action or an address, JSON); None takes it out."""
        ...

    async def route(self, number: str) -> bytes | None:
        """Read what an inbound number runs."""
        ...

    async def routes(self) -> dict[str, bytes]:
        """Read all routes, by number."""
        ...

    async def put_agent(self, account: str, agent_id: str, body: bytes | None) -> None:
        """Store an account's agent (JSON), in place of the one before; None takes it out."""
        ...

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        """Read an account's agent."""
        ...

    async def agents(self, account: str) -> dict[str, bytes]:
        """Read all agents of an account, by id."""
        ...

    async def put_drained(self, node: str, is_drained: bool) -> None:
        """Note that a PBX node gets no new calls, or that it gets them again."""
        ...

    async def drained(self) -> frozenset[str]:
        """Name the PBX nodes that get no new calls."""
        ...

    async def ping(self) -> None:
        """Return when the store answers."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...
