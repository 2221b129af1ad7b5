"""The contacts of endpoints as a manager interface reports them."""

import hashlib
import ipaddress
import re

from msgspec import Struct
from panoramisk.message import Message

EVENTS = ("ContactStatus", "ContactList")
# What rewrite_contact leaves of a contact. A phone chooses its parameters, so all that could name
# another address is left out: a second @, quotes, a comma, headers.
_URI = re.compile(
    r"sips?:(?:[A-Za-z0-9_.!~*'()&=+$%-]+@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[0-9.]+):(?P<port>[0-9]{1,5})"
    r"(?P<parameters>(?:;[A-Za-z0-9_.!~*'+-]+(?:=[A-Za-z0-9_.!~*'()+$%:/\[\]-]*)?)*)",
    re.IGNORECASE,
)
_MADDR = re.compile(r";maddr\b", re.IGNORECASE)

Address = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]


class Contact(Struct, frozen=True):
    """Where an endpoint is reached; `is_reachable` is None once the contact has been removed.

    `id` is that of the object which a REGISTER makes; a configured contact has none of this id.
    """

    endpoint: str
    uri: str
    is_reachable: bool | None
    id: str = ""
    record: str = ""  # the address record that has it


class AddressRecord(Struct, frozen=True):
    """An address record (AOR) with its contacts; phones cannot register to a fixed one."""

    name: str
    uris: tuple[str, ...]
    is_fixed: bool


def read_contact(event: Message) -> Contact:
    """Read the status of a contact from an event or from one line of a list."""
    if event.event == "ContactList":
        name, reachable = event.ObjectName, _reachable(event.Status)
        record = name.partition(";@")[0]
        return Contact(event.Endpoint, event.Uri, reachable, name, record)
    reachable, name = _reachable(event.ContactStatus), contact_id(event.AOR, event.URI)
    return Contact(event.EndpointName, event.URI, reachable, name, event.AOR)


def contact_id(record: str, uri: str) -> str:
    """Return the id of the object that a REGISTER makes of a contact."""
    return f"{record};@{hashlib.md5(uri.encode(), usedforsecurity=False).hexdigest()}"


def read_address_record(event: Message) -> AddressRecord:
    """Read one line of a list of address records."""
    name = event.ObjectName
    listed = (each.removeprefix(f"{name}/") for each in event.Contacts.split(","))
    return AddressRecord(name, tuple(each for each in listed if each), event.MaxContacts == "0")


def address_of_contact(uri: str) -> Address | None:
    """Return host and port of a contact; None if it names no literal address, or perhaps two."""
    found = _URI.fullmatch(uri)
    if found is None or _MADDR.search(found["parameters"]):
        return None
    return _address(found["host"].strip("[]"), found["port"])


def remote_address(text: str) -> Address | None:
    """Return where a login came from: `IPV4/UDP/192.0.2.1/5060`."""
    _family, _, rest = text.partition("/")
    _transport, _, address = rest.partition("/")
    host, _, port = address.rpartition("/")
    return _address(host, port)


def _address(host: str, port: str) -> Address | None:
    try:
        return ipaddress.ip_address(host), int(port)
    except ValueError:
        return None


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
