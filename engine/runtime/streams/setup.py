"""Builds what a gateway needs for a stream: addresses, signature, networks and parameters."""

import time
from collections.abc import Callable

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.stream_commands import StartStream
from engine.webhooks.signatures import SignerLookup
from wire.streams.setup import BotAddress, StreamSetup
from wire.verbs import StreamData

FORMATS = {8000: "slin", 16000: "slin16", 24000: "slin24"}


def channel_format(data: StreamData) -> str:
    """Return Asterisk's format of a stream: Twilio's protocol has mu-law, others linear audio."""
    return "ulaw" if data.protocol == "twilio" else FORMATS[data.rate]


class BotNetworks(Struct, frozen=True):
    """The private networks that an account's bots may be in, and public ones that none may be."""

    allowed: Callable[[str], tuple[str, ...]]  # of an account
    denied: tuple[str, ...] = ()


class SetupFactory:
    """Builds the setups of one node's streams."""

    def __init__(
        self,
        media_url: str,
        signer_of: SignerLookup,
        networks: BotNetworks,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._media_url = media_url
        self._signer_of = signer_of
        self._networks = networks
        self._now_s = now_s

    async def setup(self, command: StartStream, call: Call, connection: str) -> StreamSetup:
        """Return the setup of a stream whose channel waits at a websocket."""
        data = command.data
        return StreamSetup(
            media_url=f"{self._media_url}/media/{connection}",
            bot=await self._bot(command, call),
            account=call.account,
            call_id=call.id,
            from_=call.from_,
            to=call.to,
            track=data.track,
            is_fork=data.fork,
            barge_in=data.barge_in,
            parameters=data.parameters or {},
            resume=command.resume,
            recognition=command.recognition,
        )

    async def _bot(self, command: StartStream, call: Call) -> BotAddress:
        if command.recognition is not None:
            return BotAddress(url="", protocol="recognizer")
        data = command.data
        signer = await self._signer_of(call.account)
        return BotAddress(
            url=data.url,
            protocol=data.protocol,
            rate=data.rate,
            headers=signer.headers(command.stream, self._now_s(), b"", data.url),
            networks=self._networks.allowed(call.account),
            denied=self._networks.denied,
        )
