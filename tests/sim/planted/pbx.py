"""Planted faults of the PBX connection: requests that are dropped or sent twice."""

from collections.abc import Callable

from engine.ari.request import OnReply, Reply, Request
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import HOLD_VARIABLE

DONE = Reply(204)
NOT_HELD = Reply(200, b'{"value":"0"}')


class DroppingPbx:
    """Reports success for some requests but drops them."""

    def __init__(self, pbx: Pbx, drops: Callable[[Request], bool]) -> None:
        self.ask = pbx.ask
        self.keeps_order = pbx.keeps_order
        self._pbx = pbx
        self._drops = drops

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        if self._drops(request):
            done(DONE)
        else:
            self._pbx.send(request, key, may_block, done)


class UnheldPbx:
    """Says of every leg that its phone does not hold."""

    def __init__(self, pbx: Pbx) -> None:
        self.send = pbx.send
        self.keeps_order = pbx.keeps_order
        self._pbx = pbx

    async def ask(self, request: Request) -> Reply:
        is_hold = ("variable", HOLD_VARIABLE) in request.query
        return NOT_HELD if is_hold else await self._pbx.ask(request)


class Repeated:
    """Selects requests that were sent before."""

    def __init__(self, picks: Callable[[Request], bool]) -> None:
        self._picks = picks
        self._seen: set[str] = set()

    def __call__(self, request: Request) -> bool:
        is_again = self._picks(request) and request.path in self._seen
        self._seen.add(request.path)
        return is_again


class DuplicatingPbx:
    """Sends some requests twice."""

    def __init__(self, pbx: Pbx, doubles: Callable[[Request], bool]) -> None:
        self.ask = pbx.ask
        self.keeps_order = pbx.keeps_order
        self._pbx = pbx
        self._doubles = doubles

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        if self._doubles(request):
            self._pbx.send(request, key, may_block, lambda _reply: None)
        self._pbx.send(request, key, may_block, done)
