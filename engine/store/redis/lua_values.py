"""Values as scripts read them: msgpack, which both sides decode in C code."""

import struct

import msgspec

encode = msgspec.msgpack.Encoder().encode
_string_head = struct.Struct(">BI").pack


def lua_string(data: bytes) -> msgspec.Raw:
    # cmsgpack in Lua reads msgpack strings but not binaries; a Lua string holds any bytes.
    return msgspec.Raw(_string_head(0xDB, len(data)) + data)
