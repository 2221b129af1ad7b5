"""The load drill in short; `make load-drill` runs it with its limit of 100 ms."""

from pathlib import Path

from tests.harness.until import SLACK_S
from tools.drills.load import WAYS, open_load_drill

SLOWEST_MS = SLACK_S * 1_000  # tests share the machine


async def test_other_customers_notice_nothing(tmp_path: Path) -> None:
    """Their requests are served, and each of their calls has a record, whatever the attack is."""
    async with open_load_drill(tmp_path) as drill:
        for way in WAYS:
            outcome = await drill.run(way, 3)
            assert not outcome.has_failed(SLOWEST_MS), (way, outcome)
