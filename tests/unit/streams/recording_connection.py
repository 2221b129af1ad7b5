"""A websocket's connection and its frames, without a network."""

from typing import Any

from picows import WSCloseCode, WSMsgType


class RecordingConnection:
    """A connection that keeps what it gets; its own end of the transport, too."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.underlying_transport = self
        self.close_handshake: object = None
        self.is_close_frame_sent = self.ends = False
        self.is_read = True
        self.most_unsent = 0  # bytes, until it says that nothing is read

    def is_closing(self) -> bool:
        return self.ends

    def set_write_buffer_limits(self, high: int) -> None:
        self.most_unsent = high

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def send(self, kind: WSMsgType, data: bytes) -> None:
        self.sent.append((kind, data))

    def send_close(self, code: WSCloseCode) -> None:
        self.is_close_frame_sent = True
        self.sent.append(code)

    def disconnect(self, *, graceful: bool = True) -> None:
        self.sent.append("disconnect" if graceful else "break")


class Frame:
    """A frame of the other side."""

    def __init__(self, kind: WSMsgType, data: bytes = b"", *, is_last: bool = True) -> None:
        self.msg_type = kind
        self.fin = is_last
        self._data = data

    def get_payload_as_bytes(self) -> bytes:
        return self._data

    def get_payload_as_memoryview(self) -> memoryview:
        return memoryview(self._data)

    def get_close_code(self) -> WSCloseCode:
        return WSCloseCode(int.from_bytes(self._data))
