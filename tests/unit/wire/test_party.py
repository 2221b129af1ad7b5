"""Parties: numbers, agents and SIP addresses."""

import pytest

from wire.party import Party, PartyKind


@pytest.mark.parametrize(
    ("text", "kind", "id_"),
    [
        ("+4712345678", "number", "+4712345678"),
        ("110", "number", "110"),
        ("", "number", ""),
        ("agent:1001", "agent", "1001"),
        ("agent:", "agent", ""),
        ("sip:eve@example.com", "sip", "sip:eve@example.com"),
        ("sips:eve@example.com", "sip", "sips:eve@example.com"),
    ],
)
def test_a_party_is_parsed_and_formatted(text: str, kind: PartyKind, id_: str) -> None:
    """Formatting gives the text that was parsed."""
    party = Party.parse(text)
    assert party == Party(kind, id_)
    assert str(party) == text


def test_an_agent() -> None:
    """Only an agent has an agent id, and only an agent is not called through the trunk."""
    agent, number = Party.agent("7"), Party.parse("+4712345678")
    assert (str(agent), agent.agent_id, agent.is_by_trunk) == ("agent:7", "7", False)
    assert (number.agent_id, number.is_by_trunk) == (None, True)
