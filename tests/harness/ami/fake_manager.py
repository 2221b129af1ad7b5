"""A fake manager interface over TCP: a test controls logins, responses and events."""

import asyncio
import hashlib
from typing import Self

from tests.harness.until import until

SECRET = "secret-of-the-manager"  # noqa: S105 - of a server that lives for one test
START = "Response: Success\r\nEventList: start\r\n"
TRUNK = "sip:a"
AOR = f"Event: AorList\r\nObjectName: trunk\r\nMaxContacts: 0\r\nContacts: trunk/{TRUNK}\r\n"


def end(name: str) -> str:
    """Return the last message of a list."""
    return f"Event: {name}Complete\r\nEventList: Complete\r\nListItems: 1\r\n"


def contact_status(name: str, uri: str, status: str, at: str = "@@", via: str = "a") -> str:
    """Return a line of the answer about an endpoint; the phone has sent `uri` and `via`."""
    number = hashlib.md5(uri.encode(), usedforsecurity=False).hexdigest()
    return (
        f"Event: ContactStatusDetail\r\nAOR: {name}\r\nURI: {uri}\r\n"
        f"ViaAddress: {via}:5060\r\nStatus: {status}\r\n"
        f"EndpointName: {name}\r\nID: {name}{at}{number}\r\n"
    )


def login_of(endpoint: str, service: str = "PJSIP") -> tuple[str, ...]:
    """Return the event of a login."""
    return (
        "Event: SuccessfulAuth",
        "Privilege: security,all",
        "EventTV: 2026-11-30T15:40:18.513+0000",
        "Severity: Informational",
        f"Service: {service}",
        "EventVersion: 1",
        f"AccountID: {endpoint}",
        "SessionID: 08ad61d1f44318b3",
        "LocalAddress: IPV4/UDP/192.0.2.7/5060",
        "RemoteAddress: IPV4/UDP/192.0.2.1/5060",
        "UsingPassword: 1",
    )


def dtmf(name: str, *held: str, at: str = "1.0") -> tuple[str, ...]:
    """Return the event of a digit of a leg."""
    return (
        name,
        "Privilege: dtmf,all",
        f"Timestamp: {at}",
        "SystemName: pbx1",
        "Channel: PJSIP/trunk-00000001",
        "ChannelState: 6",
        "ChannelStateDesc: Up",
        "CallerIDNum: +4711111111",
        "CallerIDName: <unknown>",
        "ConnectedLineNum: <unknown>",
        "ConnectedLineName: <unknown>",
        "Language: en",
        "AccountCode: ",
        "Context: from-trunk",
        "Exten: +4721930000",
        "Priority: 1",
        "Uniqueid: pbx1-1.7",
        "Linkedid: pbx1-1.7",
        "Digit: 5",
        *held,
        "Direction: Received",
    )


class FakeManager:
    """Serves on a free port."""

    def __init__(self) -> None:
        self.port = 0
        self.logins = 0
        self.actions: list[str] = []
        self.qualified: list[str] = []  # endpoints
        self.queried: list[str] = []  # endpoints
        self.contacts = {"trunk": [contact_status("trunk", TRUNK, "Unreachable")]}
        self.listed: list[str] = []  # lines of the list of contacts
        self.lists = START
        self._serving = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._accept_all()
        self._server.close()
        self.hang_up()
        await until(lambda: self._serving == 0, what="all connections to end")

    async def _accept_all(self) -> None:
        """Wait for a last connection: those that a client just opened are accepted before it."""
        _, last = await asyncio.open_connection("127.0.0.1", self.port)
        address = last.get_extra_info("sockname")
        await until(
            lambda: any(each.get_extra_info("peername") == address for each in self._writers)
        )
        last.close()

    def send_event(self, *lines: str) -> None:
        """Send an event to the connection for all events, the newest."""
        self.send("".join(f"{line}\r\n" for line in (*lines, "")).encode())

    def send_trusted(self, *lines: str) -> None:
        """Send an event to the connection whose events have no text of phones."""
        self.send("".join(f"{line}\r\n" for line in (*lines, "")).encode(), connection=-2)

    def log_in(self, endpoint: str) -> None:
        """Send that a phone has logged in."""
        self.send_trusted(*login_of(endpoint))

    def send(self, data: bytes, connection: int = -1) -> None:
        """Send bytes to the newest connection."""
        self._writers[connection].write(data)

    def hang_up(self) -> None:
        """Close all connections."""
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving += 1
        self._writers.append(writer)
        writer.write(b"Asterisk Call Manager/9.0.0\r\n")
        await self._respond_to_all(reader, writer)
        self._serving -= 1

    async def _respond_to_all(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while block := await _block(reader):
            self.actions.append(block["Action"])
            for response in self._responses(block):
                first, rest = response.split("\r\n", 1)
                writer.write(f"{first}\r\nActionID: {block['ActionID']}\r\n{rest}\r\n".encode())

    def _responses(self, action: dict[str, str]) -> tuple[str, ...]:
        match action["Action"]:
            case "Login":
                self.logins += 1
                is_known = action["Secret"] == SECRET
                return (f"Response: {'Success' if is_known else 'Error'}\r\nMessage: So\r\n",)
            case "PJSIPShowAors":
                return (self.lists, AOR, end("AorList"))
            case "PJSIPShowContacts":
                if not self.listed:
                    return ("Response: Error\r\nMessage: No Contacts found\n\r\n",)
                return (self.lists, *self.listed, end("ContactList"))
            case "PJSIPShowEndpoint":
                self.queried.append(action["Endpoint"])
                return (START, *self.contacts.get(action["Endpoint"], []), end("EndpointDetail"))
            case "PJSIPQualify":
                self.qualified.append(action["Endpoint"])
                return ("Response: Success\r\nMessage: Endpoint found, will qualify\r\n",)
            case _:
                return ("Response: Success\r\nCoreCurrentCalls: 7\r\n",)


async def _block(reader: asyncio.StreamReader) -> dict[str, str]:
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode()
    except (asyncio.IncompleteReadError, ConnectionError):
        return {}
    pairs = (line.partition(": ") for line in text.splitlines() if line)
    return {name: value for name, _, value in pairs}
