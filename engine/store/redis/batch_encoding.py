"""Encodes a batch as the one argument of commit.lua, in msgpack: both sides use C code."""

import struct
from collections.abc import Iterable
from typing import Any

import msgspec

from engine.store.change import Change

_encode = msgspec.msgpack.Encoder().encode
_string_head = struct.Struct(">BI").pack


def encode_batch(head: tuple[Any, ...], changes: Iterable[Change]) -> bytes:
    """Encode changes after the fields of `head`, in the order that commit.lua expects."""
    return _encode(
        (
            *head,
            [
                (
                    change.call_id,
                    _string(change.node.encode() + b"\0" + change.state),
                    change.seq,
                    [_string(entry) for entry in change.log],
                    [_string(event) for event in change.events],
                    change.live,
                    change.delivery_key,
                    [_string(event) for event in change.callbacks],
                    change.first_seq,
                )
                for change in changes
            ],
        )
    )


def _string(data: bytes) -> msgspec.Raw:
    # cmsgpack in Lua reads msgpack strings but not binaries; a Lua string holds any bytes.
    return msgspec.Raw(_string_head(0xDB, len(data)) + data)
