"""Shards with calls of a later version go to an engine that can read them, or wait."""

from tests.harness.runtime.cluster_scene import SETTLED_ROUNDS, Cluster, shards

LATER = 2


async def upgrading() -> Cluster:
    """Return a cluster of one old and one upgraded engine, with two shards each."""
    cluster = Cluster("old", slots=4)
    cluster.add_engine("new", LATER)
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"old": 2, "new": 2}
    return cluster


async def test_a_shard_waits_until_an_engine_can_read_its_calls() -> None:
    """An old engine keeps it while it is alone, and releases it to the next upgraded one."""
    cluster = await upgrading()
    unreadable = cluster["new"].held
    for each in unreadable:
        cluster["old"].host.formats[each] = LATER
    await cluster.run(SETTLED_ROUNDS, "old")
    assert cluster["old"].held == shards(0, 1, 2, 3)
    del cluster.members["new"]
    cluster.add_engine("newer", LATER)
    await cluster.run(SETTLED_ROUNDS)
    assert cluster["newer"].held == unreadable
    assert all(each.leases.is_settled for each in cluster.members.values())


async def test_a_shard_is_not_claimed_again_by_an_engine_that_cannot_read_it() -> None:
    """It goes to the upgraded engine, beyond its share, and stays there."""
    cluster = await upgrading()
    for each in shards(0, 1, 2, 3):
        cluster["old"].host.formats[each] = LATER
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"old": 0, "new": 4}
    taken = len(cluster["old"].host.shards_of("take"))
    await cluster.run(SETTLED_ROUNDS)
    assert len(cluster["old"].host.shards_of("take")) == taken
    assert all(each.leases.is_settled for each in cluster.members.values())


async def test_an_upgraded_engine_releases_no_shard_to_an_old_one() -> None:
    """Its calls could not be read there; the old engine is ready all the same."""
    cluster = Cluster(slots=4)
    cluster.add_engine("new", LATER)
    await cluster.run(SETTLED_ROUNDS)
    cluster.add_engine("old")
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"new": 4, "old": 0}
    assert cluster["old"].leases.is_settled
    cluster.add_engine("newer", LATER)
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held()["newer"] > 0


async def test_the_format_is_part_of_the_heartbeat() -> None:
    """Engines that publish no format have the first one."""
    cluster = await upgrading()
    [peer] = cluster["old"].membership.peers
    assert peer.format == LATER
    assert cluster["old"].membership.can_read(LATER)
    assert not cluster["new"].membership.can_read(LATER)
