"""Media streams beside an echo at the PBX's own websocket: round trips, CPU, and losses.

Callers hear their own audio through gateway and bot, and through a bot at the PBX itself, in turns;
for CPU twice as many, still with one gateway. Then there are two gateways, and the engine and one
of them are killed while all callers speak.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from tests.harness.live_lab import Lab, open_lab
from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port
from tools.bench.cpu import Meter
from tools.bench.figure import Figure, figure, percentile
from tools.bench.setting import Setting
from tools.bench.streams.bot_audio import bot_audio
from tools.bench.streams.echo_phone import EchoPhone

DIRECT = "+15550791"
BY_GATEWAY = "+15550790"
DIALPLAN = "\n[from-trunk](+)\nexten => {number},1,Stasis(direct)\n"
SETTLE_S = 2.0


class Round(Struct, frozen=True):
    """What the calls of one round have measured."""

    echoes_ms: list[float]
    lost: int
    cpu_s: dict[str, float]
    seconds: float
    calls: int


class EchoPbx(Pbx):
    """A standard node with the number of the bots at the PBX itself."""

    def prepare(self) -> None:
        """Write the node's files, and the number."""
        super().prepare()
        with (self.folder / "etc/extensions.conf").open("a") as out:
            out.write(DIALPLAN.format(number=DIRECT))


async def streams(setting: Setting) -> list[Figure]:
    """Measure rounds of both kinds in turns, then losses."""
    calls, seconds, rounds = (10, 10, 1) if setting.quick else (50, 20, 3)
    async with _echo_lab(setting.folder / "one", gateways=1) as lab:
        figures = _echoes(*await _rounds(lab, rounds, calls, seconds))
        figures += await bot_audio(lab, 3 if setting.quick else 25)
        figures += _cpu(*await _rounds(lab, rounds, 2 * calls, seconds))
    async with _echo_lab(setting.folder / "two", gateways=2) as lab:
        figures += await _losses(lab, 2 * calls, seconds)
    return figures


@asynccontextmanager
async def _echo_lab(folder: Path, gateways: int) -> AsyncIterator[Lab]:
    """Run a PBX, an engine and gateways, with a number whose callers hear their echo."""
    async with (
        open_lab(folder, gateways=gateways, pbx_type=EchoPbx) as lab,
        echo_server(lab) as url,
    ):
        verb = {"type": "stream", "data": {"url": url}}
        await lab.engine.documents.route(BY_GATEWAY, {"account": "bench", "action": verb})
        yield lab


@asynccontextmanager
async def echo_server(lab: Lab) -> AsyncIterator[str]:
    """Run the bots as a process, and yield the address of those behind the gateway."""
    port = free_port()
    login = (lab.pbx.url, lab.pbx.ari_user, lab.pbx.ari_password)
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tools.bench.streams.echo_server", str(port), *login,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        await program.stdout.readline()
        yield f"ws://127.0.0.1:{port}/bot"
    finally:
        program.kill()
        await program.wait()


async def _rounds(
    lab: Lab, rounds: int, calls: int, seconds: float
) -> tuple[list[Round], list[Round]]:
    """Return the rounds by the gateway, and those without it, which took turns with them."""
    by_gateway, direct = list[Round](), list[Round]()
    for _ in range(rounds):
        direct.append(await _round(lab, DIRECT, calls, seconds))
        by_gateway.append(await _round(lab, BY_GATEWAY, calls, seconds))
    return by_gateway, direct


async def _round(lab: Lab, number: str, calls: int, seconds: float) -> Round:
    phones = [EchoPhone() for _ in range(calls)]
    for phone in phones:
        await phone.call(lab.pbx.sip_port, number)
    meter = Meter(_processes(lab))
    await asyncio.gather(*(phone.speak(seconds) for phone in phones))
    used = meter.used_s()
    await asyncio.sleep(SETTLE_S)  # the last echoes
    echoes = [each for phone in phones for each in phone.echoes_ms]
    lost = sum(phone.marks - len(phone.echoes_ms) for phone in phones)
    await _hang_up(lab, phones)
    return Round(echoes, lost, used, seconds, calls)


async def _hang_up(lab: Lab, phones: Sequence[EchoPhone]) -> None:
    for phone in phones:
        phone.close()
    for channel in await lab.ari("channels"):
        await lab.pbx.cli(f"channel request hangup {channel['name']}")
    await lab.wait_empty(timeout_s=30)


def _processes(lab: Lab) -> dict[str, int]:
    found = {"asterisk": lab.pbx.pid, "engine": lab.engine.pid}
    return found | {each.folder.name: each.pid for each in lab.gateways}


def _echoes(by_gateway: Sequence[Round], direct: Sequence[Round]) -> list[Figure]:
    echoes = [each for part in by_gateway for each in part.echoes_ms]
    anchors = [each for part in direct for each in part.echoes_ms]
    figures = [
        figure("streams", f"echo_p{p}", percentile(echoes, p), "ms", percentile(anchors, p))
        for p in (50, 99)
    ]
    lost = sum(each.lost for each in by_gateway)
    return [*figures, figure("streams", "lost_echoes", lost, "echoes")]


def _cpu(by_gateway: Sequence[Round], direct: Sequence[Round]) -> list[Figure]:
    asterisk, anchor = _cpu_ms(by_gateway, "asterisk"), _cpu_ms(direct, "asterisk")
    gateway = _cpu_ms(by_gateway, "streams0")
    return [
        figure("streams", "asterisk_cpu", asterisk, "ms/s and stream", anchor),
        figure("streams", "gateway_cpu", gateway, "ms/s and stream", asterisk),
        figure("streams", "streams_per_core", 1_000 / gateway if gateway else 0.0, "streams"),
    ]


def _cpu_ms(rounds: Sequence[Round], process: str) -> float:
    used_s = sum(each.cpu_s[process] for each in rounds)
    return used_s * 1_000 / sum(each.seconds * each.calls for each in rounds)


def _longest_gap_ms(phone: EchoPhone) -> float:
    return max(b.at_s - a.at_s for a, b in pairwise(phone.packets)) * 1_000


async def _losses(lab: Lab, calls: int, seconds: float) -> list[Figure]:
    """Kill the engine, then a gateway, while all callers speak."""
    phones = [EchoPhone() for _ in range(calls)]
    for phone in phones:
        await phone.call(lab.pbx.sip_port, BY_GATEWAY)
    speaking = asyncio.gather(*(phone.speak(seconds) for phone in phones))
    await asyncio.sleep(seconds / 4)
    await lab.engine.kill()
    await lab.engine.start()
    await speaking
    await asyncio.sleep(SETTLE_S)  # the last echoes
    missing = sum(phone.marks - len(phone.echoes_ms) for phone in phones)
    speaking = asyncio.gather(*(phone.speak(seconds) for phone in phones))
    await asyncio.sleep(seconds / 4)
    for phone in phones:
        phone.packets.clear()
    await lab.gateways[0].kill()
    await speaking
    gaps = [_longest_gap_ms(each) for each in phones]
    await lab.gateways[0].start()
    await _hang_up(lab, phones)
    return [
        figure("streams", "engine_killed_lost_echoes", missing, "echoes"),
        figure("streams", "gateway_killed_gap_p99", percentile(gaps, 99), "ms"),
    ]
