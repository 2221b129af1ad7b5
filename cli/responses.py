"""Responses of servers: decoded into shapes, or raised as problems."""

from typing import TypeVar

import msgspec

from cli.errors import RpcError, Unreachable
from cli.http_client import HttpResponse
from wire.decoding.messages import decode_message
from wire.rpc import Problem

T = TypeVar("T")
FIRST_ERROR_STATUS = 400


def decode_response(url: str, reply: HttpResponse, shape: type[T], server: str = "engine") -> T:
    """Return what a response contains; raises RpcError, or Unreachable if it is another's."""
    if reply.status >= FIRST_ERROR_STATUS:
        raise problem_of(url, reply.status, reply.body, server)
    try:
        return decode_message(reply.body or b"{}", shape)
    except msgspec.DecodeError as error:
        raise Unreachable(url, f"invalid response ({error})", server) from None


def problem_of(url: str, status: int, body: bytes, server: str = "engine") -> RpcError:
    """Return the error of a response; raises Unreachable if it is no problem of ours."""
    try:
        return RpcError(decode_message(body, Problem), server)
    except msgspec.DecodeError:
        raise Unreachable(url, f"another program does (HTTP {status})", server) from None
