"""The endpoint list of a node, which every engine polls."""

import asyncio

from engine.ari.request import Reply
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time

LISTED = b"""[{"technology": "PJSIP", "resource": "1001", "state": "offline", "channel_ids": []},
{"technology": "PJSIP", "resource": "trunk", "state": "online", "channel_ids": []}]"""


async def test_the_last_list_is_kept() -> None:
    """Endpoints are known, registered or not, even while the node does not answer."""
    pbx = RecordingPbx()
    endpoints = ConfiguredEndpoints(pbx, lambda name: name == "PJSIP/trunk", interval_s=0.001)
    assert not endpoints.knows("PJSIP/1001")
    pbx.shows["endpoints/PJSIP"] = Reply(200, LISTED)
    polling = asyncio.create_task(endpoints.run())
    await until(lambda: endpoints.knows("PJSIP/1001"), every_s=0.001)
    del pbx.shows["endpoints/PJSIP"]
    await asyncio.sleep(0)
    assert endpoints.knows("PJSIP/1001")
    assert not endpoints.knows("PJSIP/trunk")
    polling.cancel()
    await asyncio.gather(polling, return_exceptions=True)


@virtual_time
async def test_an_invalid_reply_is_retried() -> None:
    """As from a proxy before the node."""
    pbx = RecordingPbx()
    pbx.shows["endpoints/PJSIP"] = Reply(200, b"{}")
    endpoints = ConfiguredEndpoints(pbx, lambda _name: False, interval_s=0.001)
    polling = asyncio.create_task(endpoints.run())
    await asyncio.sleep(0)
    pbx.shows["endpoints/PJSIP"] = Reply(200, LISTED)
    await until(lambda: endpoints.knows("PJSIP/1001"), every_s=0.01)
    polling.cancel()
    await asyncio.gather(polling, return_exceptions=True)
