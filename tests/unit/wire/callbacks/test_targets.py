"""Targets in their text form."""

import re

import pytest

from wire.callbacks.targets import (
    ApiRequestTarget,
    AutoSetTarget,
    GrpcTarget,
    HttpsTarget,
    format_target,
    parse_call_target,
    parse_delivery_target,
)
from wire.decoding.errors import BadInput
from wire.decoding.patterns import ACCOUNT_TARGET, STATUS_TARGET

NODE = "0123456789abcdef01234567"
GOOD = {
    "auto-set": AutoSetTarget(),
    "grpc://customer.example:50051": GrpcTarget("customer.example", 50051),
    "grpcs://customer.example:443": GrpcTarget("customer.example", 443, is_tls=True),
    "grpc://[2001:db8::1]:50051": GrpcTarget("2001:db8::1", 50051),
    NODE: ApiRequestTarget(NODE),
}


@pytest.mark.parametrize("text", GOOD)
def test_a_target_and_back(text: str) -> None:
    """Each is parsed, and formatted as the same text."""
    assert re.search(STATUS_TARGET, text)
    target = parse_call_target(text, "statusCallbackUrl")
    assert target == GOOD[text]
    assert format_target(target) == text


@pytest.mark.parametrize(
    "text",
    ["", "auto", "https://x.example/", "http://x.example/", "grpc://", "grpc://x:1/path", NODE[1:],
     NODE + "a", "grpc://u@x:1", "auto-set\n", f"{NODE}\n", "grpc://x:1\n", "grpc://x:123456"],
)  # fmt: skip
def test_what_is_no_target(text: str) -> None:
    """The pattern rejects it."""
    assert not re.search(STATUS_TARGET, text)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("grpc://customer.example", GrpcTarget("customer.example", 80)),
        ("grpcs://customer.example/", GrpcTarget("customer.example", 443, is_tls=True)),
    ],
)
def test_a_grpc_target_has_a_default_port(text: str, target: GrpcTarget) -> None:
    """Without a port it is that of the same protocol without gRPC: 80, with TLS 443."""
    assert re.search(STATUS_TARGET, text)
    assert parse_call_target(text, "statusCallbackUrl") == target


@pytest.mark.parametrize("text", ["grpc://x:0", "grpc://x:65536", "grpc://x:99999"])
def test_a_port_that_is_none(text: str) -> None:
    """The parser rejects it."""
    with pytest.raises(BadInput, match="statusCallbackUrl: expected a host, and a port"):
        parse_call_target(text, "statusCallbackUrl")


def test_an_account_may_name_an_address() -> None:
    """https:// is a delivery target, but no target of a call."""
    assert re.search(ACCOUNT_TARGET, "https://x.example/status")
    assert parse_delivery_target("https://x.example/status", "target") == HttpsTarget(
        "https://x.example/status"
    )
    assert not re.search(ACCOUNT_TARGET, "auto-set")
    with pytest.raises(BadInput):
        parse_call_target("https://x.example/status", "statusCallbackUrl")
