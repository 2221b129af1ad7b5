"""`python -m tests.chaos.callbacks [--calls N] [--per-s N]`: callbacks under fire, a simulated PBX.

Many calls are told to ten customers, three of whom fail half of the time, and fail again when asked
again, while both engines are killed in turn. Real engines, store and HTTP; no SIP and no media.
Ends with status 1 when an event is lost, or comes before an earlier one of its call.
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

from tests.bench.engine.simulated import SimulatedPbxProcess
from tests.bench.engine.simulated_call import Script
from tests.bench.engine.simulated_calls import Load
from tests.bench.figure import Figure, figure, keep, show
from tests.bench.ivr.prompts import serve_folder, write_prompts
from tests.bench.ivr.stack import standard_tree
from tests.harness.customers.callback_receipts import Receipt, receipts_by_call
from tests.harness.customers.callback_server import Answer, CallbackServer
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

OUT = Path(__file__).parents[2] / "bench-out"
TARGETS, FAILING = 10, 3
FAILURE_SHARE = 0.5  # of what a failing target is asked
PER_S = 60
SETTINGS = {
    "SWITCHROOM_CALLBACK_RETRIES_S": str([0, 0.2, 0.5, 1, *[2] * 30]),
    "SWITCHROOM_CALLBACK_CIRCUIT_S": "1",
    "SWITCHROOM_MAX_CALLS": "20000",
}
MAX_BATCH_S = 30.0
END_TIMEOUT_S = 180  # after the last call


class Outcome(Struct, frozen=True):
    """What the customers can show."""

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
    """Two engines, a simulated PBX, and the customers."""

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
        """Start everything, and say where each account's calls are told."""
        for server in (self.pbx, self.valkey, *self.engines):
            await stack.enter_async_context(server)
        dice = random.Random(4711)
        for number in range(TARGETS):
            path = f"/{number}"
            if number < FAILING:
                self.customer.answers[path] = _flaky(dice)
            target = {"target": self.customer.url(path)}
            await self.engines[0].rpc("PUT", f"/callbacks/c{number}", target)
            route = {"account": f"c{number}", "action": standard_tree(audio)}
            await self.engines[0].rpc("PUT", f"/routes/{_number(number)}", route)

    async def kill_and_restart(self, engine: Engine) -> None:
        """Kill an engine, and start it again when the other has had its slots for a while."""
        await engine.kill()
        await asyncio.sleep(5)
        await engine.start()


async def callbacks(folder: Path, calls: int, per_s: float) -> Outcome:
    """Let calls come in, kill each engine once meanwhile, and wait for all that was to come."""
    write_prompts(folder / "prompts")
    async with AsyncExitStack() as stack:
        customer = await stack.enter_async_context(CallbackServer())
        audio = await stack.enter_async_context(serve_folder(folder / "prompts"))
        fire = CallbackTrial(folder, customer)
        await fire.start(stack, audio)
        scripts = tuple(Script(_number(each)) for each in range(TARGETS))
        running = asyncio.create_task(_run_calls(fire, scripts, calls, per_s))
        for engine in fire.engines:
            await asyncio.sleep(calls / per_s / 4)
            await fire.kill_and_restart(engine)
        asked, answered = await running
        await _wait_for_ends(customer, answered)
        found = receipts_by_call(customer.accepted)
        again = len(customer.requests) - sum(len(one.numbers) for one in found.values())
        return _outcome(asked, answered, found, again)


async def _run_calls(
    fire: CallbackTrial, scripts: tuple[Script, ...], calls: int, per_s: float
) -> tuple[int, set[str]]:
    """Let calls come in, one part after another; gives how many, and the channels answered."""
    asked, answered = 0, set[str]()
    while asked < calls:
        seconds = min(MAX_BATCH_S, 1 + (calls - asked) / per_s)
        result = await fire.pbx.run(Load(scripts, seconds, per_s))
        asked += result.calls
        answered.update(result.answered)
    return asked, answered


async def _wait_for_ends(customer: CallbackServer, answered: set[str]) -> None:
    def are_ended() -> bool:
        told = receipts_by_call(customer.accepted).values()
        is_all = answered <= {each.channel for each in told}
        return is_all and all(each.is_ended for each in told)

    try:
        await until(are_ended, timeout_s=END_TIMEOUT_S, every_s=1, what="all ends to be told")
    except TimeoutError as error:
        Console(stderr=True).print(f"[red]{error}[/red]")  # the figures say what is missing


def _outcome(asked: int, answered: set[str], found: Mapping[str, Receipt], again: int) -> Outcome:
    each = found.values()
    return Outcome(
        offered=asked,
        unreported=len(answered - {one.channel for one in each}),
        calls=len(found),
        events=sum(len(one.numbers) for one in each),
        lost=sum(one.missing for one in each),
        out_of_order=sum(not one.is_in_order for one in each),
        repeated=again,
        changed=sum(one.changed for one in each),
        not_ended=sum(not one.is_ended for one in each),
    )


def _flaky(dice: random.Random) -> Answer:
    async def serve(request: web.Request) -> web.StreamResponse:
        chance = dice.random()
        if chance < FAILURE_SHARE / 2 and request.transport is not None:
            request.transport.close()  # it may have arrived, and nobody knows
        return web.Response(status=500 if chance < FAILURE_SHARE else 204)

    return serve


def _number(target: int) -> str:
    return f"+155507{target:02}"


def figures(outcome: Outcome) -> Sequence[Figure]:
    """Make figures, whose name says that the PBX is simulated."""
    name, names = "callbacks_simulated_pbx", Outcome.__struct_fields__
    made = [figure(name, each, getattr(outcome, each), "", suite="chaos") for each in names]
    return [replace(each, command="python -m tests.chaos.callbacks") for each in made]


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.callbacks", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--per-s", type=float, default=PER_S)
    asked = parser.parse_args()
    folder = OUT / "chaos" / "callbacks_simulated_pbx"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcome = asyncio.run(callbacks(folder, asked.calls, asked.per_s))
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
