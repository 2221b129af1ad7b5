"""`python -m tools.bench [--only NAME] [--quick] [--profile]`: run the benches.

Figures go to bench-out/bench.json. Exits with 1 when a bench could not run.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from tools.bench.engine.callbacks import callbacks
from tools.bench.engine.callbacks_beside_dead import callbacks_beside_dead
from tools.bench.engine.commits import commits
from tools.bench.engine.core import core
from tools.bench.engine.ended_calls import ended_calls
from tools.bench.engine.engine_alone import engine_alone
from tools.bench.engine.idle_memory import idle_memory
from tools.bench.engine.long_calls import long_calls
from tools.bench.engine.scale import scale
from tools.bench.engine.sim import sim
from tools.bench.engine.store import store
from tools.bench.engine.timers import timers
from tools.bench.engine.webhook_log import webhook_log
from tools.bench.figure import Figure, keep, show
from tools.bench.ivr.capacity import capacity
from tools.bench.ivr.control import control
from tools.bench.ivr.digit_webhook import digit_webhook
from tools.bench.ivr.ivr50 import ivr50, ivr50_engine
from tools.bench.ivr.sessions import sessions
from tools.bench.rest.cdrs import cdrs, cdrs_postgres
from tools.bench.rest.console import console as console_pages
from tools.bench.rest.contact_search import contact_search, contact_search_postgres
from tools.bench.rest.contacts import contacts, contacts_postgres
from tools.bench.rest.lists import lists, lists_postgres
from tools.bench.rest.rest import rest
from tools.bench.rest.route_change import route_change
from tools.bench.setting import Bench, Setting
from tools.bench.streams.spoken_gather import spoken_gather
from tools.bench.streams.streams import streams
from tools.bench.streams.voice_bot import voice_bot

BENCHES: Mapping[str, Bench] = {
    "ivr50": ivr50,
    "ivr50_engine": ivr50_engine,
    "capacity": capacity,
    "control": control,
    "digit_webhook": digit_webhook,
    "rest": rest,
    "console": console_pages,
    "route_change": route_change,
    "sessions": sessions,
    "streams": streams,
    "voice_bot": voice_bot,
    "spoken_gather": spoken_gather,
    "engine_alone": engine_alone,
    "callbacks": callbacks,
    "callbacks_beside_dead": callbacks_beside_dead,
    "commits": commits,
    "ended_calls": ended_calls,
    "long_calls": long_calls,
    "webhook_log": webhook_log,
    "idle_memory": idle_memory,
    "timers": timers,
    "scale": scale,
    "core": core,
    "store": store,
    "cdrs": cdrs,
    "contact_search": contact_search,
    "contacts": contacts,
    "contacts_postgres": contacts_postgres,
    "lists": lists,
    "sim": sim,
}
LONG: Mapping[str, Bench] = {
    "cdrs_postgres": cdrs_postgres,
    "contact_search_postgres": contact_search_postgres,
    "lists_postgres": lists_postgres,
}
ALL: Mapping[str, Bench] = {**BENCHES, **LONG}
OUT = Path(__file__).parents[2] / "bench-out"


def main() -> int:
    """Run the selected benches one after another."""
    options = _arguments().parse_args()
    console = Console()
    failed = False
    for name in options.only or BENCHES:
        console.print(f"[bold]{name}[/bold]")
        with tempfile.TemporaryDirectory(prefix=f"bench-{name}-") as folder:
            setting = Setting(Path(folder), OUT, options.quick, options.profile)
            try:
                figures = asyncio.run(_run(ALL[name], setting))
            except Exception:  # noqa: BLE001 - the other benches can still run
                console.print_exception(max_frames=5)
                failed = True
                continue
        keep(figures, OUT / "bench.json")
        show(figures, console)
    return int(failed)


async def _run(bench: Bench, setting: Setting) -> list[Figure]:
    return await bench(setting)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=ALL, help="this bench (repeatable)")
    parser.add_argument("--quick", action="store_true", help="shorter and less precise")
    parser.add_argument("--profile", action="store_true", help="also write bench-out/engine.prof")
    return parser


if __name__ == "__main__":
    sys.exit(main())
