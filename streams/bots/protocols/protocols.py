"""The protocols by name."""

from collections.abc import Callable, Mapping
from typing import Literal

from streams.bots.protocols.jambonz import JambonzProtocol
from streams.bots.protocols.native import NativeProtocol
from streams.bots.protocols.protocol import BotProtocol, StreamName
from streams.bots.protocols.twilio import TwilioProtocol
from streams.bots.protocols.vonage import VonageProtocol
from wire.streams.setup import Protocol

PROTOCOLS: Mapping[Protocol | Literal["recognizer"], Callable[[StreamName], BotProtocol]] = {
    "twilio": TwilioProtocol,
    "native": NativeProtocol,
    "vonage": VonageProtocol,
    "jambonz": JambonzProtocol,
}


def protocol_of(stream: StreamName) -> BotProtocol:
    """Return the protocol of a new stream."""
    return PROTOCOLS[stream.setup.bot.protocol](stream)
