"""The quality of a call's audio, as Asterisk and the phone report it by RTCP."""

from tests.harness.live_lab import Lab
from tests.harness.metrics_page import Figures, figures
from tests.harness.phones.phone import Phone
from tests.harness.until import until

LOWEST, HIGHEST = 1.0, 4.5  # opinion scores (ITU-T G.107); jitter of a busy host lowers them
MAX_LOSS = 0.02  # RTCP counts sequence numbers: late packets are not lost


async def test_reports_of_a_call_become_metrics(lab: Lab) -> None:
    """Loss, jitter and the estimated opinion score of a clean call, by node."""
    before = await figures(lab.engine)

    def added(now: Figures, name: str) -> float:
        labels = (("node", lab.pbx.name),)
        return now[(name, labels)] - before.get((name, labels), 0.0)

    async with Phone.answering(lab.trunk_port):
        gather = {"type": "gather", "data": {"timeout": 60_000}}
        call = await lab.call(to="+15550100", action=gather)
        now: Figures = {}

        async def is_reported() -> bool:
            now.update(await figures(lab.engine))
            return added(now, "switchroom_rtp_mos_count") > 0

        await until(is_reported, what="an RTCP report")
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await lab.wait_ended(call)
    count = added(now, "switchroom_rtp_mos_count")
    assert added(now, "switchroom_rtp_loss_ratio_sum") / count < MAX_LOSS
    assert added(now, "switchroom_rtp_jitter_seconds_count") == count
    assert LOWEST <= added(now, "switchroom_rtp_mos_sum") / count <= HIGHEST
