"""All programs of a scenario: a PBX, a store, two engines, two gateways, recognizers and bots."""

import re
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
from msgspec import Struct

from dev.servers.server import Server
from tests.harness.pbx.asterisk import Pbx
from tests.harness.servers.cluster import Cluster
from tests.harness.servers.connections import count_connections
from tests.harness.servers.engine import Engine
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.servers.stream_gateway import StreamGateway
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until
from tools.chaos.streams.servers.bots import EchoBots

SLOTS, ENGINES, GATEWAYS = 4, 2, 2
DRAIN_S = 2  # a conversation may last longer than any drain
_VALUE = r"^{name} (\d+)"


class Programs(Struct, frozen=True):
    """The programs; the way of the first engine to the store has a proxy."""

    cluster: Cluster
    gateways: Sequence[StreamGateway]
    speech: SpeechProcess
    bots: EchoBots
    store_proxy: TcpProxy

    @property
    def pbx(self) -> Pbx:
        """The only PBX node."""
        return self.cluster.nodes[0]

    @property
    def engines(self) -> list[Engine]:
        """The engines, of which faults have the first."""
        return [lab.engine for lab in self.cluster.labs]

    @property
    def engine(self) -> Engine:
        """An engine that runs: the second one, unless a fault has that."""
        return next(each for each in reversed(self.engines) if each.running())

    @property
    def recognized_streams(self) -> int:
        """The number of streams at the recognizers."""
        return count_connections(self.speech.port)

    @property
    def logs(self) -> Mapping[str, Path]:
        """The logs of our programs by name."""
        ours: list[Server] = [*self.engines, *self.gateways, self.speech]
        return {each.folder.name: each.log for each in ours}

    async def wait_gateways_known(self) -> None:
        """Wait until all engines read the reports of all gateways."""
        running = sum(each.running() for each in self.engines)

        async def are_known() -> bool:
            counts = {
                await read_metric(each, "switchroom_streams_engines") for each in self.gateways
            }
            return counts == {running}

        await until(are_known, every_s=0.1, what="the engines to be at all gateways")


async def read_metric(gateway: StreamGateway, name: str) -> int:
    """Return the value of a metric without labels; -1 if the gateway does not run."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{gateway.url}/metrics") as reply,
        ):
            found = re.search(_VALUE.format(name=name), await reply.text(), re.MULTILINE)
    except aiohttp.ClientError:
        return -1
    return int(found[1]) if found else -1


@asynccontextmanager
async def open_programs(folder: Path) -> AsyncIterator[Programs]:
    """Start all programs, and stop them at the end."""
    token = secrets.token_hex(16)
    cluster = Cluster(folder, engines=0, nodes=1, slots=SLOTS)
    speech = SpeechProcess(folder / "speech")
    gateways = [
        StreamGateway(
            folder / f"streams{number}", token, speech, SWITCHROOM_STREAMS_DRAIN_S=str(DRAIN_S)
        )
        for number in range(1, GATEWAYS + 1)
    ]
    bots, proxy = EchoBots(folder / "bots"), TcpProxy(cluster.valkey.port)
    for number in range(ENGINES):
        cluster.add_engine(
            {"SWITCHROOM_STREAMS_TOKEN": token},
            proxies=() if number else (proxy,),
            node_options={cluster.nodes[0].name: {"stream_gateways": [g.url for g in gateways]}},
        )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(proxy)
        for each in (bots, speech, *gateways):
            await stack.enter_async_context(each)
        await stack.enter_async_context(cluster)
        programs = Programs(cluster, gateways, speech, bots, proxy)
        await programs.wait_gateways_known()
        yield programs
