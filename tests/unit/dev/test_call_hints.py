"""What `switchroom dev call` adds to an outcome that a newcomer does not expect."""

from cli.phone import hints
from dev.phone.caller import Outcome


def test_a_number_without_a_route() -> None:
    """Status 404 comes with the command that sets one."""
    expected = "404: +1 has no route: `switchroom route set +1 URL`, or @FILE"
    assert hints(Outcome(404, "404 Not Found", b""), "+1") == [expected]


def test_a_webhook_that_failed() -> None:
    """Cause 127 says nothing by itself; the timeline does."""
    (hint,) = hints(Outcome(200, "interworking (127)", b""), "+1")
    assert hint.startswith("the webhook or flow failed: `switchroom call timeline $(")


def test_other_outcomes_need_no_hint() -> None:
    """A call that ended by itself, and a busy one."""
    assert hints(Outcome(200, "normal clearing (16)", b""), "+1") == []
    assert hints(Outcome(486, "486 Busy Here", b""), "+1") == []
