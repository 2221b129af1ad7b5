"""The load drill in short; `make load-drill` runs it with its limit of 100 ms."""

import math
from pathlib import Path

from tools.drills.load import WAYS, open_load_drill

ANY_MS = math.inf  # tests share the machine: what is slow is not judged


async def test_other_customers_notice_nothing(tmp_path: Path) -> None:
    """Their requests are served, and each of their calls has a record, whatever the attack is."""
    async with open_load_drill(tmp_path) as drill:
        for way in WAYS:
            outcome = await drill.run(way, 3)
            assert not outcome.has_failed(ANY_MS), (way, outcome)
