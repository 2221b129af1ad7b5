"""How many slots get new calls, as it is set in a node's dialplan."""

import asyncio

from base.tasks import cancel_all
from engine.ari.request import Reply, Request
from engine.runtime.pbx_nodes.slots import REPEAT_AFTER_S, DialplanSlots
from tests.harness.runtime.recording_pbx import OK, RecordingPbx
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time

VARIABLE = "asterisk/variable"


@virtual_time
async def test_a_node_learns_the_last_slot() -> None:
    """At once, again until it accepts it, when the number changes, and every minute."""
    pbx, slots, sent = RecordingPbx(), [4], list[tuple[float, str]]()
    now_s = asyncio.get_running_loop().time

    def ask(request: Request) -> None:
        assert (request.path, dict(request.query)["variable"]) == (VARIABLE, "LAST_SLOT")
        sent.append((now_s(), dict(request.query)["value"]))
        pbx.shows[VARIABLE] = OK if now_s() >= 1 else Reply(503)

    pbx.on_ask = ask
    running = asyncio.create_task(DialplanSlots("pbx1", pbx, lambda: slots[0]).run())
    await until(lambda: now_s() > 10, every_s=0.5)
    slots[0] = 8
    await until(lambda: len(sent) == 4, every_s=0.5)
    assert [(round(at_s), value) for at_s, value in sent] == [
        (0, "3"), (1, "3"), (11, "7"), (REPEAT_AFTER_S, "7"),
    ]  # fmt: skip
    await cancel_all([running])
