"""What SimAsterisk is asked, and the replies that Asterisk gives."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.ari.request import Reply

Answered = Callable[[Reply], None]
OK, NO_CONTENT, CREATED = Reply(200, b"{}"), Reply(204), Reply(201, b"{}")
NOT_FOUND = Reply(404, b'{"message":"Channel not found"}')
GONE = Reply(400, b'{"message":"Channel not found"}')
KNOWN = Reply(409, b'{"message":"Channel with given unique ID already exists"}')
OUTSIDE = Reply(422, b'{"message":"Channel not in this bridge"}')
NO_SNOOP = Reply(500, b'{"message":"Snoop channel could not be created"}')
REFUSED = Reply(500, b'{"error":"Allocation failed"}')


class Asked(Struct, frozen=True):
    """`{kind}/{target}/{deed}/{more}?{query}`; `reply` may wait where Asterisk blocks."""

    target: str
    deed: str
    more: str
    query: dict[str, str]
    reply: Answered


Deed = Callable[[Any, Asked], Reply | None]  # None: it is answered later
Deeds = dict[tuple[str, str, str], Deed]  # by method, kind and deed
