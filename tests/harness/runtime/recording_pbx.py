"""A PBX that keeps its requests and replies on demand."""

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
        """Return the request line."""
        return f"{self.request.method} {self.request.path}"


class RecordingPbx:
    """Keeps requests until the test replies; answers queries from `shows`, by path."""

    def __init__(self) -> None:
        self.keeps_order = True
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
        """Answer a query."""
        self.on_ask(request)
        return self.shows.get(request.path, Reply(404))

    def reply(self, reply: Reply = OK) -> Sent:
        """Reply to the oldest request."""
        sent = self.sent.pop(0)
        sent.done(reply)
        return sent

    def settle(self) -> None:
        """Reply OK to all requests, also to those that follow."""
        while self.sent:
            self.reply()
