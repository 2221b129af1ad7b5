"""A PBX that is commanded only while the slot's lease holds."""

from engine.ari.request import LOST, OnReply, Reply, Request
from engine.runtime.base.ports import Pbx
from engine.store.lease import LeaseView


class FencedPbx:
    """Drops requests once the lease is over; they get no reply.

    The next owner of the slot queries the PBX again.
    """

    def __init__(self, pbx: Pbx, lease: LeaseView) -> None:
        self._pbx = pbx
        self._lease = lease

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Forward a request while the lease holds."""
        if self._lease.holds:
            self._pbx.send(request, key, may_block, done)

    async def ask(self, request: Request) -> Reply:
        """Forward a query while the lease holds; LOST otherwise."""
        return await self._pbx.ask(request) if self._lease.holds else LOST
