"""The endpoints of a node, as every engine knows them."""

import asyncio

from engine.ari.request import Reply
from engine.runtime.agents.endpoints import EndpointList
from tests.harness.until import until
from tests.unit.runtime.harness.recording_pbx import RecordingPbx

LISTED = b"""[{"technology": "PJSIP", "resource": "1001", "state": "offline", "channel_ids": []},
{"technology": "PJSIP", "resource": "trunk", "state": "online", "channel_ids": []}]"""


async def test_what_was_seen_counts() -> None:
    """An endpoint is known, registered or not, also while the node does not answer; no trunk."""
    pbx = RecordingPbx()
    phones = EndpointList(pbx, lambda name: name == "PJSIP/trunk", interval_s=0.001)
    assert not phones.knows("PJSIP/1001")
    pbx.shows["endpoints/PJSIP"] = Reply(200, LISTED)
    looking = asyncio.create_task(phones.run())
    await until(lambda: phones.knows("PJSIP/1001"), every_s=0.001)
    del pbx.shows["endpoints/PJSIP"]
    await asyncio.sleep(0)
    assert phones.knows("PJSIP/1001")
    assert not phones.knows("PJSIP/trunk")
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)


async def test_what_cannot_be_read_is_asked_again() -> None:
    """A node that answers something else, as a proxy before it may, is asked again."""
    pbx = RecordingPbx()
    pbx.shows["endpoints/PJSIP"] = Reply(200, b"{}")
    phones = EndpointList(pbx, lambda _name: False, interval_s=0.001)
    looking = asyncio.create_task(phones.run())
    await asyncio.sleep(0)
    pbx.shows["endpoints/PJSIP"] = Reply(200, LISTED)
    await until(lambda: phones.knows("PJSIP/1001"), every_s=0.01)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
