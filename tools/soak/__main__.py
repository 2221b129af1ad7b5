"""`python -m tools.soak [--minutes N] [--seed N]`: 200 live calls of mixed kinds.

SIPp phones and baresip, two PBX nodes, two engines. Callers press random digits at random times,
and different parties end the calls. Exits with 1 when a call has no record, or a record differs
from what its phones have logged.
"""

import argparse
import asyncio
import random
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.softphone import Softphone
from tests.harness.servers.cluster import Cluster
from tests.harness.servers.engine import RequestError
from tools.chaos.event_log import EventLog
from tools.soak.comparison import differences
from tools.soak.kinds import AGENTS, KINDS, LONG_MS, Digits, Kind, after_menu, choose_digits, tree
from tools.soak.lines import Line, PhoneCall, callees, read_log, run_line
from wire.events.record import CallRecord

OUT = Path(__file__).parents[2] / "bench-out" / "soak"
LINE_CALLS = 10  # live calls of one SIPp
LINE_S = 60.0  # then other digits
AGENT_STAYS_S = (3.0, 8.0)
MAX_SHOWN = 20


class Soak:
    """The servers, and what the phones of each kind have logged."""

    def __init__(self, cluster: Cluster, folder: Path, seed: int, until_s: float) -> None:
        self.seen: list[tuple[Kind, Digits, PhoneCall]] = []
        self.live: list[int] = []
        self.events = EventLog(cluster.valkey.url, cluster.shards)
        self._cluster = cluster
        self._folder = folder
        self._rng = random.Random(seed)
        self._until_s = until_s
        self._numbers: dict[str, str] = {}

    async def add_routes(self, hooks: WebhookServer, sounds: MediaServer) -> None:
        """Route a number to each kind of calls."""
        clips = {"second": sounds.tone(440, 1_000), "minute": sounds.tone(440, LONG_MS)}
        for number, kind in enumerate(KINDS):
            webhook = hooks.answers(f"/{number}", after_menu(kind, clips))
            action = tree(kind, clips, webhook)
            self._numbers[kind.name] = await self._cluster.labs[0].add_number(action)

    async def run(self, leaving: Sequence[Softphone]) -> None:
        """Keep all kinds of calls live until the time is over, and wait for the last ones.

        `leaving`: the softphones that end their calls.
        """
        async with asyncio.TaskGroup() as background:
            endless = [self._watch(), self._hang_up(), *(self._leave(each) for each in leaving)]
            tasks = [background.create_task(each) for each in endless]
            async with asyncio.TaskGroup() as lines:
                for kind in KINDS:
                    for start in range(0, kind.live, LINE_CALLS):
                        lines.create_task(self._keep(kind, min(LINE_CALLS, kind.live - start)))
            await self._cluster.wait_empty(timeout_s=60)
            for task in tasks:
                task.cancel()
        await self.events.read_new()

    async def _keep(self, kind: Kind, live: int) -> None:
        while (left_s := self._until_s - time.monotonic()) > 0:
            node = self._rng.choice(self._cluster.nodes)
            digits, seconds = choose_digits(kind, self._rng), self._rng.uniform(0.5, 1) * LINE_S
            number = self._numbers[kind.name]
            line = Line(kind, number, digits, node.sip_port, live, min(seconds, left_s))
            folder = self._folder / "lines" / f"{kind.name} {time.monotonic_ns()}".replace(" ", "-")
            self.seen += [(kind, digits, each) for each in await run_line(line, folder)]

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(5)  # the interval of the samples
            shown = await self._cluster.labs[0].engine.rpc("GET", "/calls")
            self.live.append(len(shown["calls"]))
            await self.events.read_new()

    async def _hang_up(self) -> None:
        """End calls that only play over RPC, three a second: as many as begin."""
        number = self._numbers["hung up by API"]
        while True:
            await asyncio.sleep(1)  # the interval of the requests
            lab = self._rng.choice(self._cluster.labs)
            calls = (await lab.engine.rpc("GET", "/calls"))["calls"]
            playing = [
                each["callId"]
                for each in calls
                if each["to"] == number and each["state"] == "playing"
            ]
            for call in self._rng.sample(playing, min(3, len(playing))):
                with suppress(RequestError):  # it may just have ended
                    await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})

    async def _leave(self, phone: Softphone) -> None:
        """Hang up each call of a softphone after a random time."""
        done = 0
        while True:
            await phone.wait_for("CALL_ESTABLISHED", after=done, timeout_s=LINE_S * 10)
            done += 1
            await asyncio.sleep(self._rng.uniform(*AGENT_STAYS_S))  # the time of the conversation
            phone.command("hangup")


async def _run(folder: Path, minutes: float, seed: int) -> tuple[Soak, dict[str, PhoneCall]]:
    async with AsyncExitStack() as stack:
        cluster = Cluster(folder, engines=2, nodes=2)
        hooks = await stack.enter_async_context(WebhookServer())
        sounds = await stack.enter_async_context(MediaServer())
        await stack.enter_async_context(cluster)
        await stack.enter_async_context(callees(folder / "callees", cluster.trunk_port))
        leaving = []
        for number, kind in enumerate(AGENTS):
            node = cluster.nodes[number % 2]
            phone = await stack.enter_async_context(Softphone.agent(node, kind.agent, tone_hz=500))
            if kind.ended_by == "callee":
                leaving.append(phone)
        soak = Soak(cluster, folder, seed, time.monotonic() + minutes * 60)
        await soak.add_routes(hooks, sounds)
        await soak.run(leaving)
        return soak, read_log(folder / "callees")


def _report(soak: Soak, callee_log: dict[str, PhoneCall], console: Console) -> bool:
    """Print the calls and the differences of each kind; return whether there were any."""
    records: defaultdict[str, list[CallRecord]] = defaultdict(list)
    for each in soak.events.records():
        record = msgspec.convert(each, CallRecord)
        records[record.from_.lstrip("+")].append(record)
    calls, wrong, shown = Counter[str](), Counter[str](), 0
    for kind, digits, phone in soak.seen:
        calls[kind.name] += 1
        found = records[phone.caller]
        for difference in differences(kind, digits, phone, callee_log.get(phone.caller), found):
            wrong[kind.name] += 1
            shown += 1
            if shown <= MAX_SHOWN:
                names = ", ".join(each.call_id for each in found)
                console.print(f"[red]{kind.name}[/red] {phone.caller} {names}: {difference}")
    table = Table("kind", "calls", "differences")
    for kind in KINDS:
        table.add_row(kind.name, str(calls[kind.name]), str(wrong[kind.name]))
    console.print(table)
    counts = soak.events.counts()
    live = soak.live or [0]
    average = f"{sum(live) / len(live):.0f}"
    console.print(f"{len(soak.seen)} calls; live: {average} on average, {max(live)} at most")
    console.print(f"events: {counts.duplicated} duplicated, {counts.missing} missing")
    return bool(wrong.total() or counts.duplicated or counts.missing)


def main() -> int:
    """Run the calls and print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    console = Console(width=150)
    console.print(f"seed {options.seed}")
    shutil.rmtree(OUT, ignore_errors=True)
    soak, callee_log = asyncio.run(_run(OUT, options.minutes, options.seed))
    return int(_report(soak, callee_log, console))


if __name__ == "__main__":
    sys.exit(main())
