"""Faults of the store: streams need none, once they are there."""

from collections.abc import Mapping

from tools.chaos.faults.limits import LEASE_MS
from tools.chaos.streams.run import StreamFault
from tools.chaos.streams.scenario import Scenario


async def kill(scenario: Scenario) -> None:
    """SIGKILL of the store, and a restart after the leases."""
    valkey = scenario.programs.cluster.valkey
    await valkey.kill()
    await scenario.wait_ms(LEASE_MS + 1_000)
    await valkey.start()
    await scenario.programs.cluster.wait_balanced()


async def cut(scenario: Scenario) -> None:
    """Dead network between one engine and the store, for three leases."""
    scenario.programs.store_proxy.cut()
    try:
        await scenario.wait_ms(3 * LEASE_MS)
    finally:
        scenario.programs.store_proxy.restore()
    await scenario.programs.cluster.wait_balanced()


FAULTS: Mapping[str, StreamFault] = {
    "store_killed": StreamFault(kill, errors=("store down",)),
    "store_cut": StreamFault(cut, errors=("store down", "app taken over by another engine")),
}
