"""The rolling restart of `make compose-trial`, tested without Docker."""

from pathlib import Path

import aiohttp

from tests.harness.lab.compose_roll import RollingRestart
from tests.harness.phones.phone import Phone
from tests.harness.servers.cluster import Cluster

GATHER = {"type": "gather", "data": {"timeout": 300_000}}  # longer than four starts and stops


async def test_a_call_survives_a_restart_of_each_engine(tmp_path: Path) -> None:
    """Both engines are restarted in turn; the call continues until its caller hangs up."""
    async with Cluster(tmp_path) as cluster:
        engines = {f"engine{at}": lab.engine for at, lab in enumerate(cluster.labs, 1)}

        async def run(command: str, *options: str) -> None:
            engine = engines[options[-1]]
            await (engine.stop() if command == "stop" else engine.start())

        first = cluster.labs[0]
        number = await first.add_number(GATHER)
        token = {"Authorization": f"Bearer {first.engine.token}"}
        async with aiohttp.ClientSession(headers=token, raise_for_status=True) as session:
            urls = {name: engine.url for name, engine in engines.items()}
            rolling = RollingRestart(session, run, urls)
            async with Phone.calling(cluster.nodes[0], number) as caller:
                await rolling.restart_each()
                assert not caller.is_ended
                await caller.hang_up()
        await cluster.wait_empty()
