"""The protocols by name."""

from collections.abc import Callable, Mapping

from streams.bots.protocols.protocol import BotProtocol, StreamName
from streams.bots.protocols.twilio import TwilioProtocol

PROTOCOLS: Mapping[str, Callable[[StreamName], BotProtocol]] = {"twilio": TwilioProtocol}


def protocol_of(stream: StreamName) -> BotProtocol:
    """Return the protocol of a new stream."""
    return PROTOCOLS[stream.setup.bot.protocol](stream)
