"""Failures of HTTP requests are reported by stable words."""

import errno
import socket
import ssl

import pytest
from aiohttp import (
    ClientConnectionResetError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientConnectorSSLError,
    ClientOSError,
    ClientPayloadError,
    ClientResponseError,
    ConnectionTimeoutError,
    RequestInfo,
    ServerDisconnectedError,
)
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from base.http_errors import failure_word

PLACE = ConnectionKey("crm.example", 443, True, True, None, None, None)
REQUEST = RequestInfo(URL("https://crm.example/"), "POST", CIMultiDictProxy(CIMultiDict()))


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (ClientConnectorDNSError(PLACE, OSError(socket.EAI_NONAME, "no such host")), "dns"),
        (ClientConnectorSSLError(PLACE, ssl.SSLError(1, "bad certificate")), "tls"),
        (ClientConnectorError(PLACE, OSError(errno.ECONNREFUSED, "refused")), "refused"),
        (ClientConnectorError(PLACE, OSError(errno.EHOSTUNREACH, "no route")), "unreachable"),
        (ClientConnectorError(PLACE, OSError("several errors")), "unreachable"),
        (ClientOSError(errno.ECONNRESET, "reset"), "reset"),
        (ClientConnectionResetError("lost"), "reset"),
        (ServerDisconnectedError(), "closed"),
        (ClientPayloadError("incomplete"), "truncated"),
        (ConnectionTimeoutError(), "timeout"),
        (TimeoutError(), "timeout"),
        (ClientResponseError(REQUEST, ()), "no HTTP response"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_every_failure_has_a_word(error: Exception, word: str) -> None:
    """The word depends on the kind of the failure only, not on names of a library's classes."""
    assert failure_word(error) == word
