"""`python -m tools.demo`: three calls on a real Asterisk, shown live and checked.

Timelines and received audio are saved in demo-out/.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping

from rich.console import Console

from cli.errors import RequestRejected, Unreachable, explain
from cli.options.connection import ClientSettings
from cli.rest_client import open_rest as open_client
from dev.lab.start import StartOptions, start
from dev.lab.summary import console_address
from dev.progress import Progress
from tests.harness.lab.compose import ROOT
from tools.demo import click_to_call, ivr, voice_bot
from tools.demo.context import DemoContext, Engine
from tools.demo.measure import Check
from tools.demo.rest import open_rest

OUT = ROOT / "demo-out"


async def main(console: Console) -> int:
    """Start the lab, run the scenarios and return the exit status."""
    options = StartOptions(ROOT / ".lab", 2, 0, "", ROOT / ".env")
    lab, _ = await start(options, Console(stderr=True, highlight=False, markup=False))
    settings, ports = lab.settings, lab.plan.ports()
    OUT.mkdir(exist_ok=True)
    console.print(f"watch the calls at {console_address(lab)}", soft_wrap=True)
    await lab.stop_phone()  # the phones of the demo take its port
    url = f"http://127.0.0.1:{ports.api}"
    client = open_client(ClientSettings(api_url=url, api_key=settings["SWITCHROOM_API_KEY"]))
    engine = Engine(f"http://127.0.0.1:{ports.engine}", settings["SWITCHROOM_RPC_TOKEN"])
    number = json.loads(settings["SWITCHROOM_CALLER_IDS"])[0]
    async with open_rest(url, settings) as rest:
        trunk_port = int(settings["SWITCHROOM_TRUNK"].rpartition(":")[2])
        nodes = lab.nodes()
        context = DemoContext(client, rest, engine, number, nodes, trunk_port, OUT, console)
        console.rule("1  click-to-call over REST: a number, then a second one, joined")
        first = await click_to_call.play(context)
        console.rule("2  an inbound call: prompt, digits, webhook, dial, goodbye")
        second = await ivr.play(context)
        console.rule(
            "3  a conversation with a Pipecat bot, which understands and can be interrupted"
        )
        third = await voice_bot.play(context)
    await lab.start(Progress(Console(quiet=True)))  # the phone
    results = {"click-to-call": first, "inbound": second, "voice bot": third}
    return _print_verdict(results, console)


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


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(Console(highlight=False))))
    except (RequestRejected, Unreachable) as error:
        Console(stderr=True, highlight=False).print(explain(error), soft_wrap=True)
    except (RuntimeError, TimeoutError) as error:
        sys.stderr.write(f"switchroom demo: {error}\n")
    except KeyboardInterrupt:
        pass
    sys.exit(1)
