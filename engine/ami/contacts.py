"""The contacts of endpoints as a manager interface reports them."""

import hashlib
import ipaddress
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.ami.messages import Message

# Names of endpoints and records. An event may name anything: only this is asked about.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# What rewrite_contact leaves of a contact. A phone chooses its parameters, so all that could name
# another address is left out: a second @, quotes, a comma, headers.
_URI = re.compile(
    r"sips?:(?:[A-Za-z0-9_.!~*'()&=+$%-]+@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[0-9.]+):(?P<port>[0-9]{1,5})"
    r"(?P<parameters>(?:;[A-Za-z0-9_.!~*'+-]+(?:=[A-Za-z0-9_.!~*'()+$%:/\[\]-]*)?)*)",
    re.IGNORECASE,
)
# Asterisk writes nothing of a phone before the id in the list of contacts, and nothing after it in
# the answer about an endpoint.
_FIRST_ID = re.compile(
    rb"Event: ContactList\r\nActionID: [0-9a-f]+\r\nObjectType: contact\r\nObjectName: ([^\r]*)\r\n"
)
_STATUS = b"Event: ContactStatusDetail\r\n"
_ID = re.compile(r"(?P<record>[A-Za-z0-9_.-]{1,128});@[0-9a-f]{32}")
_MADDR = re.compile(r";maddr\b", re.IGNORECASE)

Address = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]


class Contact(Struct, frozen=True):
    """Where an endpoint is reached; `is_reachable` is None once the contact has been removed.

    `id` is that of the object which a REGISTER makes; a configured contact has none of this id.
    One that cannot be read, as the phone has sent what damages it, has no URI.
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


def is_name(text: str) -> bool:
    """Return whether a text may be the name of an endpoint."""
    return _NAME.fullmatch(text) is not None


def read_listed_contact(line: Message) -> Contact | None:
    """Read one line of the list of contacts; None if it is another line.

    Asterisk writes the id, a hash, before any text of a phone: so record and URI are those that
    have been registered.
    """
    if line.damaged:
        found = _FIRST_ID.match(line.damaged)
        return None if found is None else _unreadable("", found[1].decode(errors="replace"))
    name, uri = line["ObjectName"], line["Uri"]
    record = name.partition(";@")[0]
    if line.event != "ContactList":
        return None
    if name != contact_id(record, uri) or not line["Status"]:
        return _unreadable("", name)
    return Contact(line["Endpoint"], uri, _reachable(line["Status"]), name, record)


def read_contacts(endpoint: str, lines: Iterable[Message]) -> Sequence[Contact]:
    """Read the contacts in the answer about an endpoint."""
    found = (_read_contact(endpoint, line) for line in lines)
    return [each for each in found if each is not None]


def _read_contact(endpoint: str, line: Message) -> Contact | None:
    if line.damaged.startswith(_STATUS):
        text = line.damaged.rpartition(b"\r\nID: ")[2].partition(b"\r\n")[0]
        return _unreadable(endpoint, text.decode(errors="replace"))
    if line.event != "ContactStatusDetail":
        return None
    record, uri = line["AOR"], line["URI"]
    name = contact_id(record, uri)
    if line["EndpointName"] == endpoint and line["Status"]:
        if line["ID"] == name:
            return Contact(endpoint, uri, _reachable(line["Status"]), name, record)
        if line["ID"] == name.replace(";@", "@@"):  # a configured one
            return Contact(endpoint, uri, _reachable(line["Status"]), "", record)
    return _unreadable(endpoint, line["ID"])


def _unreadable(endpoint: str, name: str) -> Contact | None:
    """Return a registered contact of which only the id is known."""
    found = _ID.fullmatch(name)
    if found is None:
        return None
    return Contact(endpoint or found["record"], "", True, name, found["record"])


def contact_id(record: str, uri: str) -> str:
    """Return the id of the object that a REGISTER makes of a contact."""
    return f"{record};@{hashlib.md5(uri.encode(), usedforsecurity=False).hexdigest()}"


def read_address_record(line: Message) -> AddressRecord:
    """Read one line of a list of address records."""
    name = line["ObjectName"]
    listed = (each.removeprefix(f"{name}/") for each in line["Contacts"].split(","))
    return AddressRecord(name, tuple(each for each in listed if each), line["MaxContacts"] == "0")


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


def _reachable(status: str) -> bool:
    return status not in {"Unreachable", "Unavailable"}


class KnownContacts:
    """The contacts of one node's endpoints, as the node has answered.

    A phone that registers again from the same address stays unreachable until the next OPTIONS
    (docs/asterisk.md), so the engine has them sent when it sees such a phone log in.
    """

    def __init__(self) -> None:
        self._contacts: dict[str, dict[str, Contact]] = {}  # by endpoint, and URI or id

    def update(self, endpoint: str, contacts: Iterable[Contact]) -> Sequence[Contact]:
        """Take all contacts of an endpoint; return the removed ones, then these."""
        known = self._contacts.pop(endpoint, {})
        now = {each.uri or each.id: each for each in contacts}
        if now:
            self._contacts[endpoint] = now
        gone = [replace(known[key], is_reachable=None) for key in known if key not in now]
        return [*gone, *now.values()]

    def has(self, endpoint: str) -> bool:
        return endpoint in self._contacts

    def is_away(self, endpoint: str) -> bool:
        """Return whether an endpoint has a contact that does not answer."""
        contacts = self._contacts.get(endpoint, {}).values()
        return any(each.is_reachable is False for each in contacts)
