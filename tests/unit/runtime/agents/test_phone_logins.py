"""Where phones have logged in last, as several engines hear it."""

import asyncio

from base.tasks import cancel_all
from engine.ari.request import Reply
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.phone_logins import PhoneReports
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time
from wire.rpc import PhoneLogin, PhoneReport


class Clock:
    """A time that all engines share."""

    now_ms = 1_000


def test_the_latest_login_counts() -> None:
    """Whichever engine has heard it, and in whatever order reports arrive."""
    one, two = PhoneReports(lambda: Clock.now_ms), PhoneReports(lambda: Clock.now_ms)
    one.logins.listener("pbx1")("Ada")
    Clock.now_ms += 5
    two.logins.listener("pbx2")("ada")
    one.learn(two.report())
    two.learn(PhoneReport({}, {"ada": PhoneLogin("pbx1", 1_000)}))
    assert one.logins.node_of("PJSIP/Ada") == two.logins.node_of("PJSIP/ada") == "pbx2"
    assert one.report().logins == {}
    Clock.now_ms += 5
    one.logins.listener("pbx1")("ada")
    two.learn(one.report())
    assert two.logins.node_of("PJSIP/ada") == "pbx1"


def test_a_revision_counts_changes() -> None:
    """Another login at the same node is none."""
    reports = PhoneReports(lambda: 1_000)
    assert reports.revision == 0
    listener = reports.logins.listener("pbx1")
    listener("ada")
    first = reports.revision
    listener("ada")
    assert reports.revision == first >= 1_000
    listener("bob")
    assert reports.revision == first + 1


@virtual_time
async def test_a_new_supervisor_reports_what_it_has_read() -> None:
    """Before the node has responded, it reports nothing, and uses the reports of the former one."""
    pbx, reports = RecordingPbx(), PhoneReports(lambda: 1_000)
    endpoints = ConfiguredEndpoints(pbx, lambda _name: False, 0.001, reports.on_change)
    reports.configured["pbx1"] = endpoints
    polling = asyncio.create_task(endpoints.run())
    try:
        await asyncio.sleep(0)
        assert reports.report().endpoints == {}
        reports.learn(PhoneReport({"pbx1": ("PJSIP/1001",)}, {}))
        assert endpoints.knows("PJSIP/1001")
        assert reports.report().endpoints == {}
        pbx.shows["endpoints/PJSIP"] = Reply(
            200,
            b'[{"technology": "PJSIP", "resource": "1001", "state": "offline", "channel_ids": []}]',
        )
        await until(lambda: reports.revision > 0, every_s=0.001)
        assert reports.report().endpoints == {"pbx1": ("PJSIP/1001",)}
        reports.learn(PhoneReport({"pbx1": ()}, {}))
        assert endpoints.knows("PJSIP/1001")
    finally:
        await cancel_all([polling])
    assert reports.report().endpoints == {}
