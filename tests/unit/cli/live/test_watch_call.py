"""Placing a call and watching it, in a pipe and on a screen."""

from msgspec.structs import replace

from engine.cli.timeline.outcome import outcome_text
from tests.unit.cli.inbound import timeline


def test_a_verdict_shows_why() -> None:
    """Who ended it, with which cause, and the reason if the engine gave one."""
    call = replace(timeline().call, status="failed", answered_ms=0, ended_by="callee",
                   hangup_cause=21, reason="rejected")  # fmt: skip
    assert outcome_text(call) == ("[bold red]failed[/]: call rejected (21), reason: rejected")
