"""The toll-fraud drill in short; `make fraud-drill` runs it for a minute."""

from pathlib import Path

from tools.drills.fraud import open_drill


async def test_no_costly_number_is_dialled(tmp_path: Path) -> None:
    """By no webhook, agent's token, REFER, forged From, hostile phone or forged event."""
    async with open_drill(tmp_path) as drill:
        outcome = await drill.run(4)
    assert outcome.calls == []
    assert not outcome.has_failed, outcome
