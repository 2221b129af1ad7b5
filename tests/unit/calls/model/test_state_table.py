"""The table of call states agrees with the code."""

from collections.abc import Callable
from typing import get_args

import pytest

from engine.calls.model.requests import HoldRequested
from engine.calls.model.state import CallState
from engine.calls.model.state_table import CALL_STATES, TRANSIENT
from engine.calls.sessions.preconditions import check_request
from tests.unit.calls.harness.builders import MAIN, Story
from tests.unit.calls.harness.states import STATES
from wire.base import tag_of


def test_every_state_is_in_the_table() -> None:
    """A state that is added to the union needs a row, too."""
    tags = [each.__struct_config__.tag for each in get_args(CallState)]
    assert sorted(tags) == sorted([*CALL_STATES, *TRANSIENT])


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_hold(make: Callable[[], Story]) -> None:
    """Holding the main leg is rejected where the table says so."""
    call = make().call
    is_rejected = CALL_STATES[tag_of(call.state)].on_hold.startswith("rejected")
    assert (check_request(call, HoldRequested(MAIN, held=True)) is not None) == is_rejected
