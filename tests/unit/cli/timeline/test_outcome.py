"""Placing a call and watching it, in a pipe and on a screen."""

from msgspec.structs import replace

from cli.timeline.outcome import outcome_text
from tests.harness.cli.inbound import timeline


def test_a_verdict_shows_why() -> None:
    """Who ended it, with which cause, and the reason if the engine gave one."""
    call = replace(timeline().call, status="failed", answered_ms=0, ended_by="callee",
                   hangup_cause=21, reason="rejected")  # fmt: skip
    assert outcome_text(call) == ("[bold red]failed[/]: call rejected (21), reason: rejected")


def test_a_party_that_could_not_be_dialed() -> None:
    """Only if the PBX rejected the endpoint; of an answer of the network it is not known."""
    view = replace(timeline().call, status="failed", reason="unavailable", hangup_cause=41)
    unknown = replace(view, ended_by="system", answered_ms=0)
    text = "its phone is not registered, or not known to the PBX (unavailable)"
    assert outcome_text(unknown).endswith(f"reason: {text}")
    assert outcome_text(replace(unknown, ended_by="callee")).endswith("reason: unavailable")
