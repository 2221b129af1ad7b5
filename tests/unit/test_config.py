"""Settings that make no sense together are refused, and named."""

import pytest
from pydantic import ValidationError

from engine.cli.faults import setting_faults
from engine.config import Settings


def test_a_ceiling_is_above_what_is_kept() -> None:
    """A stream that is cut before it is long enough would lose events from the start."""
    with pytest.raises(ValidationError) as fault:
        Settings.model_validate({"rpc_token": "x", "stream_events": 2_000, "stream_ceiling": 1_000})
    assert "stream_ceiling is below stream_events" in setting_faults(fault.value)[0]
