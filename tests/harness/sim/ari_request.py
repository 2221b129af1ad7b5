"""ARI requests as SimAsterisk parses them, and the replies that Asterisk gives."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from engine.ari.request import Reply

SendReply = Callable[[Reply], None]
OK, NO_CONTENT, CREATED = Reply(200, b"{}"), Reply(204), Reply(201, b"{}")
NOT_FOUND = Reply(404, b'{"message":"Channel not found"}')
NOT_IN_STASIS = Reply(409, b'{"message":"Channel not in Stasis application"}')
BAD_CHANNEL = Reply(400, b'{"message":"Channel not found"}')
ALREADY_EXISTS = Reply(409, b'{"message":"Channel with given unique ID already exists"}')
NOT_PLAYING = Reply(409, b'{"message":"Can only pause while media is playing"}')
NOT_IN_BRIDGE = Reply(422, b'{"message":"Channel not in this bridge"}')
SNOOP_FAILED = Reply(500, b'{"message":"Snoop channel could not be created"}')
ALLOCATION_FAILED = Reply(500, b'{"error":"Allocation failed"}')


class AriRequest(Struct, frozen=True):
    """`{kind}/{target}/{action}/{more}?{query}`; `reply` is deferred where Asterisk blocks."""

    target: str
    action: str
    more: str
    query: dict[str, str]
    reply: SendReply
    variables: Mapping[str, str] = {}


Handler = Callable[[Any, AriRequest], Reply | None]  # None: the reply is deferred
Handlers = dict[tuple[str, str, str], Handler]  # by method, kind and action
