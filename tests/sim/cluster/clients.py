"""Users of the engines: callers, and API clients that send requests to any engine."""

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.shard.control_requests import NotOwner
from engine.store.errors import StoreDown
from tests.harness.scenarios.scenario import Scenarios
from tests.harness.sim.store import done
from tests.harness.store.documents import put_route
from tests.sim.cluster.engine import Engine
from tests.sim.cluster.engines import Engines
from tests.sim.recorders import Recorders
from wire.rpc import Originate
from wire.shard import ShardId

RETRY_DELAY_MS = 50  # as engine.rpc.peers.client has it
WAIT_MS = 3_000
RETRY_AFTER_MS = 11_000  # then a client retries with the same request id
Ask = Callable[[Engine], Coroutine[Any, Any, None]]


class Clients:
    """Starts calls and hangs some up."""

    def __init__(
        self, engines: Engines, scenarios: Scenarios, records: Recorders, seed: int
    ) -> None:
        self.refused = 0
        self.accepted_hangups: list[tuple[str, float]] = []  # call id, time in ms
        self._engines = engines
        self._env = engines.env
        self._clock = engines.env.clock
        self._rng = engines.env.rng
        self._scenarios = scenarios
        self._records = records
        self._seed = seed
        self._confirmed: set[str] = set()

    def plan(self, calls: int, within_ms: float) -> None:
        """Schedule all calls."""
        for number in range(calls):
            begin = self._call_in if self._rng.random() < 0.5 else self._call_out
            self._clock.after(self._rng.uniform(50, within_ms), begin, None, number)

    def hang_up(self, call_id: str) -> None:
        """Request the end of a call; an accepted request is kept for the checks."""

        async def ask(engine: Engine) -> None:
            if await engine.service.hang_up(call_id, "api"):
                self.accepted_hangups.append((call_id, self._clock.at_ms))

        self._ask(ask)

    def _call_in(self, number: int) -> None:
        dialled = f"100{number}"
        if self._rng.random() < 0.98:
            route = msgspec.json.encode(self._records.with_recording(self._scenarios.route()))
            done(put_route(self._env.redis.memory, dialled, route))
        pbx = self._rng.choice(list(self._env.pbxs.values()))
        channel = pbx.rings_in(f"1700.{number}", dialled, self._env.apps)
        if channel is not None and channel.ended_ms is None:
            pbx.phones.calls(channel)

    def _call_out(self, number: int) -> None:
        request_id = f"s{self._seed:07d}c{number}"
        request = self._records.with_recording(self._scenarios.outbound(request_id))
        self._originate(request)
        self._clock.after(RETRY_AFTER_MS, self._originate_again, None, request)

    def _originate_again(self, request: Originate) -> None:
        if request.request_id not in self._confirmed:
            self._originate(request)

    def _originate(self, request: Originate) -> None:
        may_pass_on = True  # as the RPC does it: once

        async def ask(engine: Engine) -> None:
            nonlocal may_pass_on
            is_first, may_pass_on = may_pass_on, False
            call = await engine.service.originate(request, may_pass_on=is_first)
            self._confirmed.add(request.request_id or "")
            if self._rng.random() < 0.06:
                hangup_ms = self._rng.choice((1, 300, 5_000, 20_000)) * self._rng.random()
                self._clock.after(hangup_ms, self.hang_up, None, call.id)

        self._ask(ask)

    def _ask(self, ask: Ask) -> None:
        if self._engines.ready:
            engine = self._rng.choice(self._engines.ready)
            until_ms = self._clock.at_ms + WAIT_MS
            engine.loop.create_task(self._run_request(engine, ask, until_ms))
        else:
            self.refused += 1

    async def _run_request(self, engine: Engine, ask: Ask, until_ms: float) -> None:
        try:
            await ask(engine)
        except NotOwner as elsewhere:
            self._clock.after(1, self._hand_on, None, engine, elsewhere.shard, ask, until_ms)
        except (NoCapacity, StoreDown):
            self.refused += 1

    def _hand_on(self, engine: Engine, shard: ShardId | None, ask: Ask, until_ms: float) -> None:
        url = engine.lease_manager.url_of(shard)
        owner = next((each for each in self._engines.alive if f"http://{each.name}" == url), None)
        if owner is not None:
            owner.loop.create_task(self._run_request(owner, ask, until_ms))
        elif self._clock.at_ms < until_ms:
            retry = RETRY_DELAY_MS, self._hand_on, None, engine, shard, ask, until_ms
            self._clock.after(*retry)
        else:
            self.refused += 1
