"""Interface of all stores: `RedisStore` in production, `MemoryStore` in tests."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from engine.store.callback_queue import CallbackQueue
from engine.store.change import Change
from engine.store.listeners import ListenerStore
from engine.store.phones import PhoneStore
from engine.store.shard_layout import ShardLayout, Workload
from engine.store.stream import Stream
from engine.store.versioned_documents import VersionedDocuments
from engine.store.webhook_log import WebhookLogStore
from wire.cluster import StoreServer
from wire.dial_policy import DncListChange
from wire.shard import ShardId

MAX_CHANGES = 1_000  # read at once
MAX_FLOW_VERSIONS = 100  # of a flow


class DialPolicyStore(Protocol):
    """Dial policies and do-not-call lists of accounts; every method may raise StoreDown."""

    async def put(self, account: str, body: bytes, *, is_stopped: bool = False) -> None:
        """Store an account's policy (JSON), replacing the previous one."""

    async def stopped(self) -> frozenset[str]:
        """Read which accounts are stopped."""

    async def get(self, account: str) -> bytes | None:
        """Read an account's policy."""

    async def all(self) -> dict[str, bytes]:
        """Read all policies, by account."""

    async def change_list(self, account: str, change: DncListChange) -> int:
        """Apply changes to a list whose version is their `after`; returns the list's version."""

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        """Read the versions of lists; 0: there is no list."""

    async def delete_list(self, account: str) -> None:
        """Delete a list."""

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        """Return whether any of the numbers is on a list; None: the list is incomplete."""


class LeaseView(Protocol):
    """A shard's lease and its fencing token."""

    token: int

    @property
    def holds(self) -> bool:
        """Whether no other engine can own the shard yet."""

    @property
    def unseen_ms(self) -> int:
        """For how long the engine may have seen nothing; 0 while the lease holds."""


class Store(Protocol):
    """Shards with their owners, calls, logs and events; documents of accounts; drained nodes.

    Every method may raise StoreDown, within a bounded time; each may then be called again.
    """

    @property
    def connections(self) -> int:
        """Number of connections opened so far: after a reconnect, the server may lag behind."""

    @property
    def stream(self) -> Stream:
        """The event streams."""

    @property
    def callback_queue(self) -> CallbackQueue:
        """The callbacks to deliver."""

    @property
    def listeners(self) -> ListenerStore:
        """The machines that answer webhooks of accounts, and what they exchange."""

    @property
    def documents(self) -> VersionedDocuments:
        """The accounts' documents with their versions, as one writer sends them."""

    @property
    def phones(self) -> PhoneStore:
        """The credentials of agents' phones, and whose each endpoint is."""

    @property
    def dial_policies(self) -> DialPolicyStore:
        """The accounts' dial policies."""

    @property
    def webhook_log(self) -> WebhookLogStore:
        """The attempts to reach customers' servers."""

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        """Make `owner` a shard's only writer for a while; None while another owner's lease runs.

        Raises StoreDown, too, when the connection is a new one, unless it is the first.
        Returns a fencing token larger than all before. `holder` is a live engine that claims to
        hold it: its claim overrides lease expiry, so the shard is free only if it was released
        or another engine owned it since.
        """

    async def renew(self, shard: ShardId, token: int, lease_ms: int, number: int = 0) -> bool:
        """Extend a lease from now; 0 ms releases it. False when another engine owns the shard.

        `number` is that of the last acknowledged commit; raises CommitsLost when that is lost.
        """

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        """Record that an engine is alive; returns all live engines, by name. 0 ms: it leaves.

        If the heartbeat is late itself, peers do not expire: the process slept, or a clock changed.
        """

    async def last_seen_ms(self, shard: ShardId) -> int:
        """Return when the owner before the present one last renewed its lease; 0: unknown."""

    async def owner(self, shard: ShardId) -> str:
        """Return the current or last owner of a shard; empty without one."""

    def membership_changes(self) -> AsyncIterator[None]:
        """Yield when an engine joins or leaves, or a shard is released.

        A hint only: some may be missed.
        """

    async def create(self, shard: ShardId, token: int, change: Change) -> bool:
        """Store a new call; False when its id exists, live or ended. Raises Fenced.

        The same change again, while it is still the call's state, returns True: an owner that got
        no reply may retry.
        """

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> int:
        """Store a batch, all or nothing, at most one change a call; raises Fenced.

        `number` is the batch's number, counted by the owner; a repetition has the same.
        `sent` are ended calls whose last webhooks have been sent.
        Returns how many events became dead letters because the callback queue was full.
        """

    def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        """Read call id, node and state of each live call of a shard, page by page."""

    async def unsent(self, shard: ShardId) -> dict[str, bytes | None]:
        """Read the states of ended calls whose last webhooks may not have been sent."""

    async def read(self, shard: ShardId, call_id: str) -> bytes | None:
        """Read a call's last state, live or ended; None when unknown or expired."""

    def ended(self, shard: ShardId) -> AsyncIterator[tuple[str, bytes]]:
        """Read id and last state of each ended call of a shard that is still kept."""

    async def ended_page(self, shard: ShardId, cursor: int) -> tuple[int, list[tuple[str, bytes]]]:
        """Read a page of them, and the cursor of the next page; 0: the first, or none follows.

        A page may be empty although others follow.
        """

    async def forget(self, shard: ShardId, call_id: str) -> None:
        """Remove an ended call and its log."""

    async def compress_ended(
        self, tokens: Mapping[ShardId, int], after_ms: int, limit: int, dictionary: int
    ) -> int:
        """Compress calls of shards that ended `after_ms` ago, the oldest `limit` of each shard.

        `tokens` are the shards' fencing tokens; a shard that another engine has is left out.
        `dictionary` is one that every reader has. Returns how many calls were due.
        """

    async def remove_dead_letters(
        self, shard: ShardId, account: str, entries: Sequence[str]
    ) -> int:
        """Remove dead letters of an account; returns how many there were."""

    async def log(
        self, shard: ShardId, call_id: str, first: int = 0, limit: int | None = None
    ) -> list[bytes]:
        """Read a call's log in order, from an entry on, or so many entries of it.

        A lost entry reads as empty bytes.
        """

    async def workloads(self, shards: Sequence[ShardId]) -> list[Workload]:
        """Read how many calls each shard has."""

    async def shard_layout(self) -> ShardLayout:
        """Read which shards exist; no slots if no engine has stored that yet."""

    async def add_nodes(self, nodes: Collection[str], slots: int, highest: int = 0) -> int:
        """Let nodes have shards; without a number of slots per node, `slots` becomes that.

        `highest` is a number of slots that there was. Returns the number of slots per node.
        """

    async def set_slots(self, slots: int) -> None:
        """Change the number of slots per node that get new calls."""

    async def request_of(self, request_id: str) -> str | None:
        """Return the id of the call that a request starts or has started."""

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        """Let a request start a call of this id, unless it has one, other than `instead_of`.

        Returns the id that it has.
        """

    async def used_ms(self, account: str, shards: Iterable[ShardId]) -> int:
        """Return how long the legs that an account dialled today (UTC) in ended calls were up."""

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        """Read a version of an account's flow, with its number; 0: the newest."""

    async def request(self, account: str, request_id: str) -> bytes | None:
        """Read an account's API request."""

    async def requests(self, account: str, ids: Sequence[str]) -> dict[str, bytes]:
        """Read those of an account's API requests that exist, by id."""

    async def route(self, number: str) -> bytes | None:
        """Read what an inbound number runs."""

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        """Read an account's agent."""

    async def agent_changes(self, account: str, after: str) -> tuple[list[str], str]:
        """Read the ids of agents that were stored or deleted after a position, and the next one.

        At most MAX_CHANGES, the oldest ones; without a position none, and the current one.
        """

    async def agents(self, account: str, ids: Sequence[str] | None = None) -> dict[str, bytes]:
        """Read an account's agents, those of `ids` or all, by id."""

    async def put_drained(self, node: str, is_drained: bool) -> None:
        """Record whether a PBX node is drained: it gets no new calls."""

    async def drained(self) -> frozenset[str]:
        """Read the drained PBX nodes."""

    async def time_ms(self) -> int:
        """Return the store's wall-clock time, which counts leases."""

    async def ping(self) -> None:
        """Return when the store responds."""

    async def servers(self) -> list[StoreServer]:
        """Read what the servers of the store say of themselves."""

    async def close(self) -> None:
        """Close all connections."""
