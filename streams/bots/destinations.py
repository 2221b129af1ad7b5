"""Where a stream's other end is: a customer's bot, or one of the operator's recognizers."""

import ssl
from collections.abc import Callable, Mapping

from msgspec import MsgspecError, Struct
from msgspec.json import Decoder
from picows import WSHandshakeError
from picows.url import WSParsedURL, parse_url

from base.lookups import Lookups
from streams.bots.dialer import BotUnreachable, Dialer, GuardedDialer, TrustedDialer
from wire.streams.setup import BotAddress, StreamSetup

RECOGNIZER_PING_S = 4.0
BOT_PING_S = 15.0  # some compute between their messages, and answer nothing meanwhile
_UNAUTHORIZED = (401, 403)
_NOT_FOUND = 404


class _Problem(Struct):
    detail: str


_PROBLEM = Decoder(_Problem)


class Destination(Struct, frozen=True):
    """An address, what reaches it, and what a response means that accepts no websocket."""

    account: str
    url: str
    headers: Mapping[str, str]  # of the handshake
    dialer: Dialer
    trust: ssl.SSLContext
    refusal: Callable[[WSHandshakeError], BotUnreachable]
    ping_s: float = BOT_PING_S  # after as much silence, and then for an answer

    def parsed(self) -> WSParsedURL:
        """Return the parts of the address; raises WSError or ValueError."""
        return parse_url(self.url)


class RecognizerServer(Struct, frozen=True):
    """The recognizers that the operator runs, and the token that they need."""

    url: str
    token: str


class DestinationLookups(Struct, frozen=True):
    """What finds addresses: neither waits for the other."""

    bots: Lookups
    own: Lookups  # of the operator's servers


class Destinations:
    """The other ends that a gateway reaches."""

    def __init__(
        self,
        bots: ssl.SSLContext,
        recognizers: RecognizerServer | None,
        trust: ssl.SSLContext,
        lookups: DestinationLookups,
    ) -> None:
        """`bots` verifies customers' servers, `trust` those of the operator."""
        self._lookups = lookups
        self._bots = bots
        self._recognizers = recognizers
        self._trust = trust

    def find(self, setup: StreamSetup, subprotocol: str) -> Destination:
        """Return the destination of a stream; raises BotUnreachable."""
        if setup.recognition is not None:
            return self._recognizer(setup.account, setup.recognition.recognizer)
        address = setup.bot
        try:
            dialer = GuardedDialer(setup.account, address, self._lookups.bots)
        except ValueError as error:
            raise BotUnreachable("address-refused", str(error)) from None
        headers = _bot_headers(address, subprotocol)
        return Destination(setup.account, address.url, headers, dialer, self._bots, _bot_refusal)

    def _recognizer(self, account: str, name: str) -> Destination:
        server = self._recognizers
        if server is None:
            text = "this gateway has no recognizers: SWITCHROOM_STREAMS_RECOGNIZERS is not set"
            raise BotUnreachable("bot-closed", text)
        url = f"{server.url.rstrip('/')}/recognizers/{name}"
        headers = {"User-Agent": "switchroom", "Authorization": f"Bearer {server.token}"}
        dialer = TrustedDialer("the server of recognizers", self._lookups.own)

        def refusal(error: WSHandshakeError) -> BotUnreachable:
            return _recognizer_refusal(name, error)

        return Destination(account, url, headers, dialer, self._trust, refusal, RECOGNIZER_PING_S)


def _bot_headers(address: BotAddress, subprotocol: str) -> dict[str, str]:
    own = {"User-Agent": "switchroom"}
    if subprotocol:
        own["Sec-WebSocket-Protocol"] = subprotocol
    return {**own, **address.headers}


def _bot_refusal(error: WSHandshakeError) -> BotUnreachable:
    if error.response is not None:
        status = int(error.response.status)
        text = f"HTTP {status}; a websocket begins with 101"
        return BotUnreachable("no-websocket", text, status)
    return BotUnreachable("no-websocket", str(error))


def _problem_detail(body: bytes | None) -> str:
    """Return what a problem response says, if all of it came with its headers."""
    try:
        return _PROBLEM.decode(body or b"").detail
    except (MsgspecError, UnicodeDecodeError):
        return ""


def _recognizer_refusal(name: str, error: WSHandshakeError) -> BotUnreachable:
    status = 0 if error.response is None else int(error.response.status)
    if status == _NOT_FOUND:
        text = f"HTTP 404: there is no recognizer {name}"
        known = _problem_detail(error.raw_body)
        return BotUnreachable("bot-closed", f"{text}; {known}" if known else text)
    if status in _UNAUTHORIZED:
        text = (
            f"HTTP {status}: the recognizers did not accept the gateway's SWITCHROOM_SPEECH_TOKEN"
        )
        return BotUnreachable("bot-lost", text)
    return _bot_refusal(error)
