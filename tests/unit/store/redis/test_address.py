"""Addresses of the store."""

import pytest

from engine.store.redis.address import StoreAddress, parse_address


@pytest.mark.parametrize("url", ["redis://host:6379/0", "rediss://:x@host/1?ssl_ca_certs=/a"])
def test_a_server(url: str) -> None:
    """Its URL is unchanged; the redacted form has no secrets."""
    found = parse_address(url)
    assert (found.url, found.sentinels) == (url, ())
    assert "x@" not in found.redacted
    assert "?" not in found.redacted


def test_sentinels() -> None:
    """Hosts have a port or the default; login, database and options are the primary's."""
    url = "rediss+sentinel://me:secret@a.example:1,[::1],c/main/2?ssl_ca_certs=/a"
    assert parse_address(url) == StoreAddress(
        url="rediss://me:secret@primary/2?ssl_ca_certs=/a",
        redacted="rediss+sentinel://a.example:1,[::1],c/main/2",
        sentinels=(("a.example", 1), ("::1", 26379), ("c", 26379)),
        service="main",
    )


def test_a_cluster() -> None:
    """Some of its nodes, with a port or the default; login and options are those of all nodes."""
    url = "rediss+cluster://me:secret@a.example:1,[::1],c/0?ssl_ca_certs=/a"
    assert parse_address(url) == StoreAddress(
        url="rediss://me:secret@primary?ssl_ca_certs=/a",
        redacted="rediss+cluster://a.example:1,[::1],c/0",
        cluster=(("a.example", 1), ("::1", 6379), ("c", 6379)),
    )
    assert parse_address(url).hosts == ("a.example", "::1", "c")
    assert parse_address("redis+cluster://a.example").is_open
    assert not parse_address("redis+cluster://127.0.0.1:7000,127.0.0.1:7001").is_open


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "must begin with redis://"),
        ("http://host", "must begin with redis://"),
        ("redis://", "must begin with redis://"),
        ("unix+sentinel://a/main", "must begin with redis://"),
        ("redis+sentinel://a:1,b:2", "the primary's name"),
        ("unix+cluster://a", "must begin with redis://"),
        ("redis+cluster+sentinel://a/main", "must begin with redis://"),
        ("redis+cluster://a:1/1", "one database"),
        ("redis+cluster://a:1,,b", "must be host:port"),
        ("redis+sentinel://a:1,,b/main", "must be host:port"),
        ("redis+sentinel://a:x/main", "Port could not be cast"),
    ],
)
def test_invalid_addresses(url: str, words: str) -> None:
    """The error names the allowed forms."""
    with pytest.raises(ValueError, match=words):
        parse_address(url)
