"""What two real engines show operators of each other, and the doctor's checks that they run."""

from pathlib import Path
from typing import Any

from tests.harness.servers.cluster import Cluster, freeze, thaw
from tests.harness.until import until


def engines_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the engines of a view, each once."""
    engines: list[dict[str, Any]] = found["engines"]
    assert len({each["engine"] for each in engines}) == len(engines)
    return engines


async def test_each_engine_shows_both(tmp_path: Path) -> None:
    """Every shard has one owner, every node one supervisor; one that hangs is shown as such."""
    async with Cluster(tmp_path, nodes=2) as cluster:
        one, two = (lab.engine for lab in cluster.labs)
        for engine in (one, two):

            async def is_whole(engine: Any = engine) -> bool:
                found = await engine.rpc("GET", "/engines")
                both = engines_of(found)
                supervised = [node for each in both for node in each.get("supervised", ())]
                shards = [shard["shard"] for each in both for shard in each["shards"]]
                return (
                    {each["url"] for each in both} == {one.url, two.url}
                    and all(each.get("isReady") for each in both)
                    and sorted(supervised) == ["pbx1", "pbx2"]
                    and sorted(shards) == sorted(map(str, cluster.shards))
                    and "unowned" not in found
                )

            await until(is_whole, what="the view of both engines")
        report = await one.rpc("GET", "/doctor")
        failed = [each for each in report["findings"] if each["level"] == "FAIL"]
        assert {each["code"] for each in failed} <= {"refer_crash"}  # of the tests' own PBX
        assert {each["subject"] for each in report["findings"]} >= {"store", "pbx1", "pbx2"}
        freeze(two)

        async def is_missed() -> bool:
            found = engines_of(await one.rpc("GET", "/engines"))
            return any(
                each["url"] == two.url and each.get("isResponding") is False for each in found
            )

        await until(is_missed, what="the frozen engine to be shown as such")

        async def has_all() -> bool:
            found = await one.rpc("GET", "/engines")
            return [len(each["shards"]) for each in engines_of(found)] == [len(cluster.shards)]

        await until(has_all, what="the other engine to have all shards")
        thaw(two)
        await cluster.wait_empty()
