"""Metrics of an engine after a real call."""

import time

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.metrics_page import Figures, figures
from tests.harness.phones.phone import Phone
from tests.harness.until import until


async def test_metrics_of_a_call_are_plausible(
    lab: Lab, sounds: MediaServer, hooks: WebhookServer
) -> None:
    """A call with play, gather and webhook is counted by slot, with plausible durations."""
    before, began_s = await figures(lab.engine), time.monotonic()
    gather = {"type": "gather", "data": {"timeout": 100}, "action": hooks.answers("/next", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 300)}, "action": gather}
        call = await lab.call(to="+15550100", action=play)
        await phone.wait_ended()
    await lab.wait_ended(call)
    more = _Growth(before, await figures(lab.engine), call.partition("-")[0])
    assert more.of("switchroom_calls_started_total", direction="outbound") == 1
    assert more.of("switchroom_calls_ended_total", status="completed") == 1
    assert more.of("switchroom_events_total", type="PlaybackFinished") == 1
    assert more.of("switchroom_events_total", type="StasisStart") == 1
    assert more.of("switchroom_webhook_seconds_count", outcome="answered") == 1
    assert more.of("switchroom_ari_request_seconds_count", transport="websocket") >= 3
    assert more.of("switchroom_commit_seconds_count") >= 4
    assert more.of("switchroom_timer_lateness_seconds_count") >= 1
    lasted_s = time.monotonic() - began_s
    for name in ("ari_request", "commit", "timer_lateness"):
        count = more.of(f"switchroom_{name}_seconds_count")
        assert 0 <= more.of(f"switchroom_{name}_seconds_sum") / count < lasted_s
    for fault in ("calls_dropped", "calls_lost", "commit_failures", "webhook_failures"):
        assert more.of(f"switchroom_{fault}_total") == 0


async def test_an_idle_engine_holds_all_shards(lab: Lab) -> None:
    """One engine holds all shards, nodes are up, and no change or event is pending."""
    await until(lambda: _is_idle(lab), what="an idle engine with all shards")
    now = await figures(lab.engine)
    assert now["process_resident_memory_bytes", ()] > 20e6


async def _is_idle(lab: Lab) -> bool:
    now = await figures(lab.engine)
    held = [value for (name, _), value in now.items() if name == "switchroom_shard_held"]
    holds_all = set(held) == {1} and len(held) == now["switchroom_shards", ()]
    waiting = ("switchroom_commit_pending_changes", "switchroom_buffered_events")
    waits = any(value for (name, _), value in now.items() if name in waiting)
    return holds_all and not waits and now["switchroom_node_up", (("node", lab.pbx.name),)] == 1


class _Growth:
    """The growth of metrics of one slot, including metrics without a slot."""

    def __init__(self, before: Figures, after: Figures, slot: str) -> None:
        self._grown = {key: value - before.get(key, 0) for key, value in after.items()}
        self._slot = slot

    def of(self, name: str, **labels: str) -> float:
        """Return the growth of a metric, summed over series with these labels."""
        wanted = labels.items()
        return sum(
            grown
            for (each, found), grown in self._grown.items()
            if each == name
            and wanted <= dict(found).items()
            and dict(found).get("slot", self._slot) == self._slot
        )
