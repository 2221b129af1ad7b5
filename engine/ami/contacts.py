"""The contacts of endpoints as a manager interface reports them."""

from msgspec import Struct
from panoramisk.message import Message

EVENTS = ("ContactStatus", "ContactList")


class Contact(Struct, frozen=True):
    """Where an endpoint is reached; `is_reachable` is None once the contact has been removed."""

    endpoint: str
    uri: str
    is_reachable: bool | None


def read_contact(event: Message) -> Contact:
    """Read the status of a contact from an event or from one line of a list."""
    if event.event == "ContactList":
        return Contact(event.Endpoint, event.Uri, _reachable(event.Status))
    return Contact(event.EndpointName, event.URI, _reachable(event.ContactStatus))


def _reachable(status: str) -> bool | None:
    return None if status == "Removed" else status not in {"Unreachable", "Unavailable"}


class UnreachableContacts:
    """The contacts of one node that do not answer its OPTIONS.

    A phone that registers again from the same address stays unreachable until the next OPTIONS
    (docs/asterisk.md), so the engine has them sent when it sees such a phone log in.
    """

    def __init__(self) -> None:
        self._endpoints: dict[str, str] = {}  # by URI

    def on_contact(self, contact: Contact) -> None:
        """Keep the status of a contact."""
        if contact.is_reachable is False:
            self._endpoints[contact.uri] = contact.endpoint
        else:
            self._endpoints.pop(contact.uri, None)

    def has_returned(self, event: Message) -> bool:
        """Return whether a phone with an unreachable contact has logged in."""
        is_login = event.event == "SuccessfulAuth" and event.Service == "PJSIP"
        return is_login and event.AccountID in self._endpoints.values()
