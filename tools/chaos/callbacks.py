"""`python -m tools.chaos.callbacks [--calls N] [--per-s N]`: callbacks under faults.

Calls of a simulated PBX are reported to ten customers; three of them fail half of the requests,
including retries, while both engines are killed in turn. Engines, store and HTTP are real; there is
no SIP and no media. Exits with 1 when an event is lost or out of order within its call.
"""

import argparse
import asyncio
import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console

from tests.harness.customers.callback_receipts import Receipt, receipts_by_call
from tests.harness.customers.callback_server import Answer, CallbackServer
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until
from tools.bench.engine.simulated import SimulatedPbxProcess
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure, keep, show
from tools.bench.ivr.prompts import serve_folder, write_prompts
from tools.bench.ivr.stack import standard_tree

OUT = Path(__file__).parents[2] / "bench-out"
TARGETS, FAILING = 10, 3
FAILURE_SHARE = 0.5  # of the requests to a failing target
PER_S = 60
SETTINGS = {
    "SWITCHROOM_CALLBACK_RETRIES_S": str([0, 0.2, 0.5, 1, *[2] * 30]),
    "SWITCHROOM_CALLBACK_CIRCUIT_S": "1",
    "SWITCHROOM_MAX_CALLS": "20000",
}
MAX_BATCH_S = 30.0
END_TIMEOUT_S = 180  # after the last call


class Outcome(Struct, frozen=True):
    """What the customers have received."""

    offered: int
    calls: int
    events: int
    unreported: int
    lost: int
    out_of_order: int
    repeated: int
    changed: int
    not_ended: int


class CallbackTrial:
    """Two engines, a simulated PBX and the customers."""

    def __init__(self, folder: Path, customer: CallbackServer) -> None:
        self.pbx = SimulatedPbxProcess(folder / "pbx1")
        self.valkey = Valkey(folder / "valkey")
        self.customer = customer
        nodes = [self.pbx]
        first = Engine(folder / "engine1", valkey=self.valkey, nodes=nodes, settings=SETTINGS)
        second = Engine(
            folder / "engine2",
            valkey=self.valkey,
            nodes=nodes,
            settings=SETTINGS,
            token=first.token,
        )
        self.engines = (first, second)

    async def start(self, stack: AsyncExitStack, audio: str) -> None:
        """Start all servers, and set the callback target and the route of each account."""
        for server in (self.pbx, self.valkey, *self.engines):
            await stack.enter_async_context(server)
        dice = random.Random(4711)
        for number in range(TARGETS):
            path = f"/{number}"
            if number < FAILING:
                self.customer.answers[path] = _flaky(dice)
            target = {"target": self.customer.url(path)}
            await self.engines[0].documents.callback(f"c{number}", target)
            route = {"account": f"c{number}", "action": standard_tree(audio)}
            await self.engines[0].documents.route(_number(number), route)

    async def kill_and_restart(self, engine: Engine) -> None:
        """Kill an engine, and start it again after the other has taken over its shards."""
        await engine.kill()
        await asyncio.sleep(5)  # meanwhile the other takes over
        await engine.start()


async def callbacks(folder: Path, calls: int, per_s: float) -> Outcome:
    """Run calls, kill each engine once meanwhile, and wait for all callbacks."""
    write_prompts(folder / "prompts")
    async with AsyncExitStack() as stack:
        customer = await stack.enter_async_context(CallbackServer())
        audio = await stack.enter_async_context(serve_folder(folder / "prompts"))
        trial = CallbackTrial(folder, customer)
        await trial.start(stack, audio)
        scripts = tuple(Script(_number(each)) for each in range(TARGETS))
        running = asyncio.create_task(_run_calls(trial, scripts, calls, per_s))
        for engine in trial.engines:
            await asyncio.sleep(calls / per_s / 4)  # between the kills, calls are made
            await trial.kill_and_restart(engine)
        offered, answered = await running
        await _wait_for_ends(customer, answered)
        found = receipts_by_call(customer.accepted)
        repeated = len(customer.requests) - sum(len(one.numbers) for one in found.values())
        return _outcome(offered, answered, found, repeated)


async def _run_calls(
    trial: CallbackTrial, scripts: tuple[Script, ...], calls: int, per_s: float
) -> tuple[int, set[str]]:
    """Run calls in batches; returns their number and the answered channels."""
    offered, answered = 0, set[str]()
    while offered < calls:
        seconds = min(MAX_BATCH_S, 1 + (calls - offered) / per_s)
        result = await trial.pbx.run(Load(scripts, seconds, per_s))
        offered += result.calls
        answered.update(result.answered)
    return offered, answered


async def _wait_for_ends(customer: CallbackServer, answered: set[str]) -> None:
    def are_ended() -> bool:
        received = receipts_by_call(customer.accepted).values()
        is_all = answered <= {each.channel for each in received}
        return is_all and all(each.is_ended for each in received)

    try:
        await until(
            are_ended, timeout_s=END_TIMEOUT_S, every_s=1, what="the last event of each call"
        )
    except TimeoutError as error:
        Console(stderr=True).print(f"[red]{error}[/red]")  # the figures report the missing events


def _outcome(
    offered: int, answered: set[str], found: Mapping[str, Receipt], repeated: int
) -> Outcome:
    receipts = found.values()
    return Outcome(
        offered=offered,
        unreported=len(answered - {one.channel for one in receipts}),
        calls=len(found),
        events=sum(len(one.numbers) for one in receipts),
        lost=sum(one.missing for one in receipts),
        out_of_order=sum(not one.is_in_order for one in receipts),
        repeated=repeated,
        changed=sum(one.changed for one in receipts),
        not_ended=sum(not one.is_ended for one in receipts),
    )


def _flaky(dice: random.Random) -> Answer:
    async def serve(request: web.Request) -> web.StreamResponse:
        chance = dice.random()
        if chance < FAILURE_SHARE / 2 and request.transport is not None:
            request.transport.close()  # the engine cannot know whether it arrived
        return web.Response(status=500 if chance < FAILURE_SHARE else 204)

    return serve


def _number(target: int) -> str:
    return f"+155507{target:02}"


def figures(outcome: Outcome) -> Sequence[Figure]:
    """Return figures, named after the simulated PBX."""
    name, names = "callbacks_simulated_pbx", Outcome.__struct_fields__
    made = [figure(name, each, getattr(outcome, each), "", suite="chaos") for each in names]
    return [replace(each, command="python -m tools.chaos.callbacks") for each in made]


def main() -> int:
    """Run the trial and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.chaos.callbacks", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--per-s", type=float, default=PER_S)
    options = parser.parse_args()
    folder = OUT / "chaos" / "callbacks_simulated_pbx"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcome = asyncio.run(callbacks(folder, options.calls, options.per_s))
    keep(figures(outcome), OUT / "chaos.json")
    show(figures(outcome), Console())
    wrong = (
        outcome.unreported,
        outcome.lost,
        outcome.out_of_order,
        outcome.changed,
        outcome.not_ended,
    )
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main())
