"""Planted faults on the way to the PBX: requests that are dropped or sent twice."""

from collections.abc import Callable

from engine.ari.request import OnReply, Reply, Request
from engine.runtime.base.ports import Pbx

DONE = Reply(204)


class DroppingPbx:
    """A PBX's line that says it did a request, and did not."""

    def __init__(self, pbx: Pbx, drops: Callable[[Request], bool]) -> None:
        self.ask = pbx.ask
        self._pbx = pbx
        self._drops = drops

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request, or not."""
        if self._drops(request):
            done(DONE)
        else:
            self._pbx.send(request, key, may_block, done)


class Repeated:
    """Picks what has been asked for before."""

    def __init__(self, picks: Callable[[Request], bool]) -> None:
        self._picks = picks
        self._seen: set[str] = set()

    def __call__(self, request: Request) -> bool:
        """Tell whether a request is to be dropped."""
        is_again = self._picks(request) and request.path in self._seen
        self._seen.add(request.path)
        return is_again


class DuplicatingPbx:
    """A PBX's line that sends some requests twice."""

    def __init__(self, pbx: Pbx, doubles: Callable[[Request], bool]) -> None:
        self.ask = pbx.ask
        self._pbx = pbx
        self._doubles = doubles

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request."""
        if self._doubles(request):
            self._pbx.send(request, key, may_block, lambda _reply: None)
        self._pbx.send(request, key, may_block, done)
