"""REFER with Replaces between calls of two engines, which one of them may not survive."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.phones.parties import Parties
from tests.harness.servers.cluster import Cluster
from tests.live.sessions.test_replaces import CONNECTED, NUMBER, assert_connected
from wire.call_id_format import shard_of
from wire.shard import NO_SHARD

FIRST, SECOND = 0, 1  # the engines of the two calls


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Run two engines on one PBX; nothing may be left on it afterwards."""
    async with Cluster(tmp_path, trunk_refers=True) as made:
        yield made
        await made.wait_empty()


async def connect_both(parties: Parties, cluster: Cluster) -> str:
    """Connect the phone's two lines, each by a call of another engine; return the second call."""
    await parties.connect_from_source()
    await parties["source"].hold()
    line, target = await parties.add_phone("fourth"), await parties.add_phone("target")
    dial = {"type": "dial", "data": {"number": line.address}}
    second = await cluster.labs[SECOND].call(account="acme", to=target.address, action=dial)
    await parties.expect_audio(customer="music", target="fourth", fourth="target")
    owners = await cluster.owners()
    pids = [owners[shard_of(call) or NO_SHARD] for call in (parties.call, second)]
    assert pids == [lab.engine.pid for lab in cluster.labs]
    return second


async def end(parties: Parties, second: str, survivor: int, cluster: Cluster) -> None:
    """Hang up one party: it ends both calls, whichever engine is left."""
    await parties["customer"].hang_up()
    await parties["target"].wait_ended()
    for call in (parties.call, second):
        await cluster.labs[survivor].wait_ended(call)


async def test_the_calls_of_two_engines_are_connected(cluster: Cluster) -> None:
    """Each engine keeps its call; a hangup ends both."""
    async with Parties(cluster.labs[FIRST]) as parties:
        second = await connect_both(parties, cluster)
        await parties["source"].refer_to_call(NUMBER, parties["fourth"])
        await assert_connected(parties, second)
        await end(parties, second, FIRST, cluster)


@pytest.mark.parametrize("killed", [FIRST, SECOND])
async def test_connected_parties_survive_one_engine(cluster: Cluster, killed: int) -> None:
    """The other engine takes the call of a killed one; the parties talk on."""
    async with Parties(cluster.labs[FIRST]) as parties:
        second = await connect_both(parties, cluster)
        await parties["source"].refer_to_call(NUMBER, parties["fourth"])
        await assert_connected(parties, second)
        await cluster.labs[killed].engine.kill()
        await parties.expect_audio_for(4_000, CONNECTED)  # longer than the lease
        await end(parties, second, 1 - killed, cluster)
