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

from base.http_client import exact_url, failure_word

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


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("https://h/a.wav?e=a%40b.c&sig=%3D%2b", "/a.wav?e=a%40b.c&sig=%3D%2b"),
        ("https://h/%7Ea/%28b%29%3A?c=%2E%2e", "/%7Ea/%28b%29%3A?c=%2E%2e"),
        ("https://h/~a/(b):!$&'*+,;=@?c=/?:@", "/~a/(b):!$&'*+,;=@?c=/?:@"),
        ("https://h/a/../b//c", "/a/../b//c"),
        ("https://h?a=b", "/?a=b"),
        ("https://h", "/"),
        ("https://h/å?ö=ä#ü", "/%C3%A5?%C3%B6=%C3%A4"),
        ('https://h/"<a>{b}|^`', "/%22%3Ca%3E%7Bb%7D%7C%5E%60"),
        ("https://h/50%?a=%4&b=%zz&c=%2", "/50%25?a=%254&b=%25zz&c=%252"),
    ],
)
def test_an_address_is_sent_as_it_is_given(address: str, sent: str) -> None:
    """Servers check signatures of its characters; only what no address may contain is escaped."""
    assert exact_url(address).raw_path_qs == sent


def test_the_host_and_the_port_are_known() -> None:
    """For the address guard, and for the connection."""
    assert (exact_url("https://h:99/a").host, exact_url("https://h:99/a").port) == ("h", 99)
    assert exact_url("http://[::1]:8080/a").host == "::1"
