"""RPC operations that only the other engines use: what this one knows alone."""

from aiohttp import web
from msgspec import Struct

from engine.rpc.peers.prompts import PromptErasure
from engine.runtime.call_service import CallService
from engine.runtime.io.digit_sealer import DigitSealer
from wire import rpc
from wire.erasure import ErasedPrompts, ErasePrompts


class PeerHandlers(Struct, frozen=True):
    service: CallService
    sealer: DigitSealer
    prompts: PromptErasure

    async def digits(self, _request: web.Request, body: rpc.GetDigits) -> rpc.HeardDigits:
        """Report the digits of the last minute on some legs, sealed: any may be secret."""
        node, offset_ms = self.service.nodes.get(body.node), self.service.clock_offset_ms
        logged = node.logged_digits() if node else {}
        return rpc.HeardDigits(
            tuple(
                rpc.HeardDigit(
                    leg,
                    self.sealer.seal(leg, each.digit),
                    each.pressed_ms - offset_ms,
                    each.held_ms,
                    each.pbx_ms,
                )
                for leg in body.legs
                for each in logged.get(leg, ())
            )
        )

    async def phones(self, _request: web.Request) -> rpc.PhoneReport:
        """Report the phones of the nodes that this engine supervises."""
        return self.service.phone_reports.report()

    async def erase_prompts(self, _request: web.Request, body: ErasePrompts) -> ErasedPrompts:
        """Remove what this engine's audio cache has of a number."""
        return ErasedPrompts(await self.prompts.erase_here(body))
