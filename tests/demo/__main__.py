"""`python -m tests.demo`: two calls on a real Asterisk, shown live and checked.

Timelines and received audio are saved in demo-out/.
"""

import asyncio
import os
import sys
from collections.abc import Mapping

from rich.console import Console

from engine.cli.client import open_client
from engine.cli.errors import RpcError, Unreachable, explain
from engine.cli.live.watch_call import open_notifier
from tests.demo import click_to_call, ivr
from tests.demo.context import DemoContext
from tests.demo.measure import Check
from tests.demo.rest import open_rest
from tests.harness.lab.commands import up
from tests.harness.lab.compose import ROOT
from tests.harness.lab.env import read_env
from tests.harness.lab.servers import PORTS, TRUNK, lab_pbx
from tests.harness.ports import taken_ports

OUT = ROOT / "demo-out"


async def main(console: Console) -> int:
    """Start the lab, run both scenarios and return the exit status."""
    await up()
    settings = read_env(ROOT / ".env")
    OUT.mkdir(exist_ok=True)
    url = f"http://127.0.0.1:{settings['SWITCHROOM_RPC_PORT']}"
    rest_url = f"http://127.0.0.1:{settings['SWITCHROOM_API_PORT']}"
    async with (
        open_client(url, settings["SWITCHROOM_RPC_TOKEN"]) as client,
        open_notifier(client) as news,
        open_rest(rest_url, settings) as rest,
    ):
        pbxs = {name: lab_pbx(name, ports, settings) for name, ports in PORTS.items()}
        context = DemoContext(client, rest, news, pbxs, _trunk_port(settings), OUT, console)
        console.rule("1  click-to-call over REST: a number, then a second one, joined")
        first = await click_to_call.play(context)
        console.rule("2  an inbound call: prompt, digits, webhook, dial, goodbye")
        second = await ivr.play(context)
    return _print_verdict({"click-to-call": first, "inbound": second}, console)


def _print_verdict(scenarios: Mapping[str, list[Check]], console: Console) -> int:
    console.rule("results")
    for scenario, checks in scenarios.items():
        console.print(scenario, style="bold")
        for each in checks:
            mark = "[green]✔[/]" if each.holds else "[bold red]✘[/]"
            console.print(f" {mark} {each.claim} [dim]({each.measured})[/]", soft_wrap=True)
    failed = sum(not each.holds for checks in scenarios.values() for each in checks)
    console.print(f"timelines and audio of each phone: {os.path.relpath(OUT)}/")
    console.print("the lab keeps running; `make down` stops it")
    if failed:
        console.print(f"{failed} checks failed", style="bold red")
        return 1
    console.print("all checks passed", style="bold green")
    return 0


def _trunk_port(settings: Mapping[str, str]) -> int:
    port = int(settings.get("SWITCHROOM_TRUNK", TRUNK).rpartition(":")[2])
    if taken_ports([port]):
        raise RuntimeError(
            f"the phones need port {port}, which another program uses: stop it first"
        )
    return port


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(Console(highlight=False))))
    except (RpcError, Unreachable) as error:
        Console(stderr=True, highlight=False).print(explain(error), soft_wrap=True)
    except (RuntimeError, PermissionError, TimeoutError) as error:
        sys.stderr.write(f"switchroom demo: {error}\n")
    except KeyboardInterrupt:
        pass
    sys.exit(1)
