"""A PBX that keeps what is sent to it, and replies when the test says so."""

from collections.abc import Callable

from msgspec import Struct

from engine.ari.request import OnReply, Reply, Request

OK = Reply(200, b"{}")
LOST = Reply(0)


class Sent(Struct, frozen=True):
    """A request that waits for its reply."""

    request: Request
    key: str
    may_block: bool
    done: OnReply

    @property
    def line(self) -> str:
        """Give the request line."""
        return f"{self.request.method} {self.request.path}"


class RecordingPbx:
    """Keeps what is sent; the test replies. What is asked is answered from `shows`, by path."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.lines: list[str] = []
        self.on_ask: Callable[[Request], None] = lambda _request: None
        self.shows: dict[str, Reply] = {
            "channels": Reply(200, b"[]"),
            "bridges": Reply(200, b"[]"),
        }

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Keep a request."""
        self.sent.append(Sent(request, key, may_block, done))
        self.lines.append(self.sent[-1].line)

    async def ask(self, request: Request) -> Reply:
        """Answer from what it shows."""
        self.on_ask(request)
        return self.shows.get(request.path, Reply(404))

    def reply(self, reply: Reply = OK) -> Sent:
        """Answer the oldest request."""
        sent = self.sent.pop(0)
        sent.done(reply)
        return sent

    def settle(self) -> None:
        """Answer everything well, and what follows from it."""
        while self.sent:
            self.reply()
