"""The protocols by name."""

from collections.abc import Callable, Mapping

from streams.bots.protocols.jambonz import JambonzProtocol
from streams.bots.protocols.native import NativeProtocol
from streams.bots.protocols.protocol import BotProtocol, StreamName
from streams.bots.protocols.recognizer import RecognizerProtocol
from streams.bots.protocols.twilio import TwilioProtocol
from streams.bots.protocols.vonage import VonageProtocol
from wire.decoding.errors import BadInput
from wire.streams.setup import Protocol

PROTOCOLS: Mapping[Protocol, Callable[[StreamName], BotProtocol]] = {
    "twilio": TwilioProtocol,
    "native": NativeProtocol,
    "vonage": VonageProtocol,
    "jambonz": JambonzProtocol,
}


def protocol_of(stream: StreamName) -> BotProtocol:
    """Return the protocol of a new stream; raises BadInput if fields do not fit."""
    setup = stream.setup
    if setup.bot.protocol != "recognizer":
        if setup.recognition is not None:
            raise BadInput("recognition", "only the protocol recognizer has it")
        return PROTOCOLS[setup.bot.protocol](stream)
    if setup.recognition is None:
        raise BadInput("recognition", "the protocol recognizer needs it")
    if not setup.is_fork:
        raise BadInput("isFork", "the protocol recognizer needs a fork")
    return RecognizerProtocol(setup.recognition)
