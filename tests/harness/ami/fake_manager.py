"""A fake manager interface over TCP: a test controls logins, responses and events."""

import asyncio
from typing import Self

from tests.harness.until import until

SECRET = "secret-of-the-manager"  # noqa: S105 - of a server that lives for one test
CONTACTS = (
    "Response: Success\r\nEventList: start\r\nMessage: A listing of Contacts follows\r\n",
    "Event: ContactList\r\nUri: sip:a\r\nEndpoint: trunk\r\nStatus: Unreachable\r\n",
    "Event: ContactListComplete\r\nEventList: Complete\r\nListItems: 1\r\n",
)


class FakeManager:
    """Serves on a free port."""

    def __init__(self) -> None:
        self.port = 0
        self.logins = 0
        self.actions: list[str] = []
        self.qualified: list[str] = []  # endpoints
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
        """Send an event to the newest connection."""
        self.send("".join(f"{line}\r\n" for line in (*lines, "")).encode())

    def send(self, data: bytes) -> None:
        """Send bytes to the newest connection."""
        self._writers[-1].write(data)

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
                writer.write(f"{response}ActionID: {block['ActionID']}\r\n\r\n".encode())

    def _responses(self, action: dict[str, str]) -> tuple[str, ...]:
        match action["Action"]:
            case "Login":
                self.logins += 1
                is_known = action["Secret"] == SECRET
                return (f"Response: {'Success' if is_known else 'Error'}\r\nMessage: So\r\n",)
            case "PJSIPShowContacts":
                return CONTACTS
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
