"""One clock for the packets of all talkers: a timer of each would cost as much as the packets."""

import asyncio
import itertools
from collections.abc import Sequence

from tools.chaos.streams.callers.talker import Talker

PACKET_S = 0.02
GROUPS = 4  # which send at different moments, as phones do


class MediaClock:
    """Lets talkers send a packet each 20 ms; what is late is sent at once."""

    def __init__(self, talkers: Sequence[Talker]) -> None:
        self._groups = [talkers[start::GROUPS] for start in range(GROUPS)]

    async def run(self) -> None:
        """Send until cancelled."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        for step in itertools.count():
            due_s = began_s + step * PACKET_S / GROUPS
            await asyncio.sleep(due_s - loop.time())  # a PBX expects audio in real time
            for talker in self._groups[step % GROUPS]:
                if not talker.sip.is_ended:
                    talker.send_packet()
