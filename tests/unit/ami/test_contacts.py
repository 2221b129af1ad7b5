"""A contact that a phone has damaged is known by its id, which no text of the phone replaces."""

import pytest

from engine.ami.contacts import Contact, contact_id, read_contacts, read_listed_contact
from engine.ami.messages import read_line

URI = "sip:+18765551234@198.51.100.7:5060"
ID = contact_id("1001", URI)
OTHER = contact_id("1001", "sip:other")
UNREADABLE = Contact("1001", "", True, ID, "1001")
FORGERIES = (
    "\r\n\r\nEvent: Foo\r\n\r\n",
    "\r\nfoo",
    "\n",
    "\x01",
    "\r\nStatus: Reachable",
    f"\r\nID: {OTHER}",
    f"\r\n\r\nEvent: ContactStatusDetail\r\nID: {OTHER}\r\n\r\n",
    f"\r\n\r\nEvent: ContactList\r\nObjectName: {OTHER}\r\n\r\n",
)


@pytest.mark.parametrize("forged", FORGERIES, ids=repr)
@pytest.mark.parametrize("within", ["uri", "via", "call-id"])
def test_a_damaged_contact_of_an_endpoint(within: str, forged: str) -> None:
    """The id follows all text of the phone."""
    uri, via, call_id = (forged if within == each else "a" for each in ("uri", "via", "call-id"))
    line = (
        f"Event: ContactStatusDetail\r\nActionID: ab12\r\nAOR: 1001\r\nURI: {uri}\r\n"
        f"UserAgent: a\r\nViaAddress: {via}:5060\r\nCallID: {call_id}\r\nStatus: NonQualified\r\n"
        f"EndpointName: 1001\r\nID: {ID}\r\nPath: \r\nQualify2xxOnly: 0"
    )
    assert read_contacts("1001", [read_line(line.encode())]) == [UNREADABLE]


@pytest.mark.parametrize("forged", FORGERIES, ids=repr)
def test_a_damaged_contact_of_the_list(forged: str) -> None:
    """The id precedes all text of the phone."""
    line = (
        f"Event: ContactList\r\nActionID: ab12\r\nObjectType: contact\r\nObjectName: {ID}\r\n"
        f"ViaAddr: {forged}\r\nUri: sip:a\r\nEndpoint: 1001\r\nStatus: NonQualified"
    )
    assert read_listed_contact(read_line(line.encode())) == UNREADABLE


def test_a_contact_that_is_not_text() -> None:
    """The hash is that of the bytes."""
    line = b"Event: ContactStatusDetail\r\nActionID: ab12\r\nAOR: 1001\r\nURI: sip:\xff\r\n"
    line += b"Status: NonQualified\r\nEndpointName: 1001\r\nID: " + ID.encode()
    assert read_contacts("1001", [read_line(line)]) == [UNREADABLE]
