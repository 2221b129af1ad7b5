"""`switchroom slots`: the number of slots per PBX node."""

from typing import Annotated

from cyclopts import App, Parameter

from cli.client import Client
from cli.command import client_command
from cli.named_commands import with_example
from cli.output import Shown, shown
from wire.rpc import Slots

slots = App(
    name="slots", help=with_example("Show or change the number of slots per PBX node.", "slots")
)


@slots.default
@client_command
async def change(
    client: Client,
    number: Annotated[int | None, Parameter(help="The new number, 1 to 64.")] = None,
) -> Shown:
    """Show the number of slots per node, or change it while calls are live.

    Example: switchroom slots 8
    """
    notes: list[str] = []
    if number is None:
        found = await client.request(Slots, "GET", "slots")
    else:
        found = await client.request(Slots, "PUT", "slots", body={"slots": number})
        notes.append("set SWITCHROOM_SLOTS to it before an engine is started again")
    text = f"{found.slots} slots per node get new calls"
    retired = found.highest - found.slots
    notes.append(f"{text}; {retired} end with their calls" if retired > 0 else text)
    return shown(found, *notes)
