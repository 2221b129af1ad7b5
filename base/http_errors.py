"""Words for failures of HTTP requests; class names of libraries are never reported."""

import errno

from aiohttp import (
    ClientConnectionResetError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientOSError,
    ClientPayloadError,
    ClientSSLError,
    ServerConnectionError,
)

_WORDS = {
    errno.ECONNREFUSED: "refused",
    errno.EHOSTUNREACH: "unreachable",
    errno.ENETUNREACH: "unreachable",
}


def failure_word(error: Exception) -> str:
    """Return why a request failed: `dns`, `tls`, `refused`, `timeout`, …."""
    match error:
        case TimeoutError():
            return "timeout"
        case ClientConnectorDNSError():
            return "dns"
        case ClientSSLError():
            return "tls"
        case ClientConnectorError():
            return _WORDS.get(error.os_error.errno or 0, "unreachable")
        case ClientOSError() | ClientConnectionResetError():
            return "reset"
        case ServerConnectionError():
            return "closed"
        case ClientPayloadError():
            return "truncated"
        case _:
            return "no HTTP response"
