"""The `switchroom` command."""

import asyncio
import signal
import sys
from importlib.metadata import entry_points, version
from typing import TYPE_CHECKING

import cyclopts
import uvloop
from cyclopts import Parameter

from engine.cli.commands import (
    agents,
    call_control,
    callbacks,
    calls,
    conferences,
    flows,
    nodes,
    replay,
    routes,
    slots,
    transfers,
)
from engine.cli.commands.call import call
from engine.cli.usage_panel import usage_panel
from engine.store.redis.address import parse_address
from sandbox.process import protect_process
from wire.settings import InvalidSettings, load

if TYPE_CHECKING:
    from engine.config import Settings

# `--help` shows them without an import of the REST layer.
DESCRIPTIONS = {
    "account": "Manage accounts, their keys, numbers and limits.",
    "api": "Run the REST layer; migrate its database; push dial policies.",
}

app = cyclopts.App(
    name="switchroom",
    help="Self-hosted, Twilio-style voice API for Asterisk: live calls survive engine crashes.",
    error_formatter=usage_panel,
    version=lambda: version("switchroom"),
    default_parameter=Parameter(negative=()),
)
calling = cyclopts.App(name="call")
calling.default(call)
calling.command(call_control.show)
app.command(calling)
app.command(calls.calls)
app.command(calls.timeline)
app.command(replay.replay)
app.command(call_control.mute)
app.command(call_control.unmute)
app.command(call_control.hold)
app.command(call_control.unhold)
app.command(call_control.dial)
app.command(call_control.hangup)
app.command(call_control.record)
app.command(transfers.transfer)
app.command(transfers.complete, name="transfer-complete")
app.command(transfers.cancel, name="transfer-cancel")
app.command(conferences.conference)
app.command(routes.route)
app.command(routes.routes)
app.command(flows.flow)
app.command(nodes.nodes)
app.command(slots.slots)
app.command(agents.agents)
app.command(agents.agent)
app.command(callbacks.callback)
# By name: no other command needs its imports.
app.command(
    "engine.cli.doctor.command:doctor",
    help="Check settings, store, PBX nodes, engine and this machine; exit status 1 on a failure.",
)
# Other installed packages add commands of their own, imported when they run.
for found in entry_points(group="switchroom.commands"):
    text = DESCRIPTIONS.get(found.name, f"See `switchroom {found.name} --help`.")
    app.command(found.value, name=found.name, help=text)


@app.command
def engine() -> None:
    """Run an engine until SIGTERM; another engine continues its calls."""
    # Imported here: every other command is a client, and starts twice as fast without them.
    from engine.config import Settings  # noqa: PLC0415 - clients start without
    from engine.logging import configure  # noqa: PLC0415 - clients start without

    try:
        settings = load(Settings)
    except InvalidSettings as error:
        sys.exit(str(error))
    configure(settings.log_level)
    uvloop.run(_run(settings))


async def _run(settings: "Settings") -> None:
    from engine.app.engine import Engine  # noqa: PLC0415 - clients start without
    from engine.common.tls import TlsFileError  # noqa: PLC0415 - clients start without
    from engine.rpc.server import BindFailed  # noqa: PLC0415 - clients start without
    from engine.store.errors import StoreDown  # noqa: PLC0415 - clients start without
    from engine.store.shard_layout import SlotsMismatch  # noqa: PLC0415 - clients start without

    protect_process()
    try:
        running = Engine(settings)
    except TlsFileError as error:
        sys.exit(str(error))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stop)
    try:
        await running.run()
    except StoreDown as error:
        where = parse_address(settings.redis_url).redacted
        sys.exit(f"the store can't be reached at {where}: {error}")
    except SlotsMismatch as error:
        sys.exit(str(error))
    except BindFailed as error:
        sys.exit(f"{error}; see SWITCHROOM_RPC_HOST and SWITCHROOM_RPC_PORT")


def main() -> None:
    """Run the command."""
    try:
        app()
    except ImportError as error:
        reason = error.__cause__ or error
        sys.exit(f"{reason}: install the extra of this program, such as switchroom[api]")


if __name__ == "__main__":
    main()
