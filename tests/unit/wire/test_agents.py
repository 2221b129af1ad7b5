"""Entries of the agents' directory."""

import msgspec
import pytest

from wire.agents import Agent


@pytest.mark.parametrize("endpoint", ["PJSIP/1001", "PJSIP/acme-sales.7_a"])
def test_an_agent_has_an_endpoint_of_its_own(endpoint: str) -> None:
    """A PJSIP endpoint by its plain name."""
    body = msgspec.json.encode({"endpoint": endpoint, "name": "Ada", "callerId": "+4721930000"})
    assert msgspec.json.decode(body, type=Agent) == Agent(endpoint, "Ada", "+4721930000")


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "PJSIP/",
        "1001",
        "pjsip/1001",
        "SIP/1001",
        "Local/1001@from-trunk",
        "PJSIP/+4790000000@trunk",
        "PJSIP/trunk/sip:+4790000000@example.com",
        "PJSIP/1001&PJSIP/1002",
        "PJSIP/1001,60",
        "PJSIP/${EXTEN}",
        "PJSIP/10 01",
        "PJSIP/1001\n",
    ],
)
def test_an_endpoint_leads_nowhere_else(endpoint: str) -> None:
    """No other technology, no number behind an endpoint, no address."""
    with pytest.raises(msgspec.ValidationError, match="endpoint"):
        msgspec.json.decode(msgspec.json.encode({"endpoint": endpoint}), type=Agent)
