"""Callbacks are delivered in order although an engine is killed."""

import asyncio
from pathlib import Path

from tests.harness.customers.callback_receipts import receipts_by_call
from tests.harness.customers.callback_server import CallbackServer, refuse_first_attempts
from tests.harness.phones.answerer import answering_all
from tests.harness.servers.cluster import LEASE_S, Cluster
from tests.harness.until import until

CALLS = 16
WAITS = {"type": "gather", "data": {"maxDigits": 1, "timeout": 4000}}
SETTINGS = {
    "SWITCHROOM_CALLBACK_RETRIES_S": "[0, 0.2, 0.5, 1, 2, 4, 8]",
    "SWITCHROOM_CALLBACK_CIRCUIT_S": "1",
}


async def test_callbacks_survive_the_death_of_their_engine(tmp_path: Path) -> None:
    """No event is lost or out of order, and repetitions have the same id and body."""
    cluster = Cluster(tmp_path, engines=0)
    labs = [cluster.add_engine(SETTINGS) for _ in range(2)]
    async with (
        cluster,
        answering_all(tmp_path, cluster.trunk_port),
        CallbackServer() as customer,
    ):
        leaving, staying = labs
        # No event fails three times, so none lets later ones pass it (decision 0019).
        customer.answers["/flaky"] = refuse_first_attempts(one_in=3)
        await staying.engine.documents.callback("acme", {"target": customer.url("/flaky")})
        calls = await asyncio.gather(
            *(lab.call(to="+15550100", action=WAITS) for lab in labs for _ in range(CALLS // 2))
        )
        await until(lambda: len(customer.requests) > CALLS, what="the first events")
        await leaving.engine.kill()

        def are_ended() -> bool:
            delivered = receipts_by_call(customer.accepted)
            return sum(each.is_ended for each in delivered.values()) == CALLS

        def missing() -> str:
            delivered = receipts_by_call(customer.accepted)
            live = [each for each in delivered.values() if not each.is_ended]
            silent = set(calls) - delivered.keys()
            refused = set(customer.ids()) - {each.id for each in customer.accepted}
            return f"the last event of {live} and {silent}; never accepted: {refused}"

        await until(are_ended, timeout_s=LEASE_S + 60, what=missing)
        found = receipts_by_call(customer.accepted)
        await cluster.wait_empty()
    assert found.keys() == set(calls)
    assert all(each.is_in_order and not each.missing for each in found.values())
    assert sum(each.changed for each in found.values()) == 0
    assert len(customer.requests) > len(customer.accepted)  # failed ones are repeated
