"""Answers all calls to one port, and saves what each caller says as a WAV file."""

import asyncio
import re
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

from dev.phone.g711 import write_wav
from dev.phone.message import (
    Message,
    events_type_of,
    media_address,
    parse,
    response,
    sdp,
    user_of,
)
from dev.phone.rtp import EVENTS_TYPE, Audio

_RINGS_S = 1.0
_MAX_CALLS = 200  # each has a socket
_TYPE = ("Content-Type", "application/sdp")
_TAG = secrets.token_hex(4)


class _Dialog:
    """One call: what was answered, and its audio."""

    def __init__(self, invite: Message, audio: Audio, port: int, path: Path) -> None:
        self.invite = invite
        self.audio = audio
        self.path = path
        self.description = sdp(port, events_type_of(invite.body, EVENTS_TYPE))
        self.is_answered = False


class Answerer(asyncio.DatagramProtocol):
    """The phone; `name_of` makes the file name of a call from caller and called number."""

    def __init__(
        self, folder: Path, name_of: Callable[[str, str], str], say: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._name_of = name_of
        self._say = say
        self._dialogs: dict[str, _Dialog] = {}
        self._opening: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._udp: asyncio.DatagramTransport | None = None
        self._contact = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._udp = cast("asyncio.DatagramTransport", transport)
        host, port = transport.get_extra_info("sockname")
        self._contact = f"<sip:phone@{host}:{port}>"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        message = parse(data)
        if message is None or message.status or message.method == "ACK":
            return
        match message.method:
            case "INVITE" | "UPDATE" if message.body or message.method == "INVITE":
                self._invited(message, addr)
            case "CANCEL":
                self._canceled(message, addr)
            case "BYE":
                self._send(response(message, "200 OK", _TAG), addr)
                self._end(message.header("Call-ID"))
            case _:
                self._send(response(message, "200 OK", _TAG), addr)

    def close(self) -> None:
        """Save what live calls have said so far."""
        for call_id in list(self._dialogs):
            self._end(call_id)

    def _invited(self, invite: Message, addr: tuple[str, int]) -> None:
        call_id = invite.header("Call-ID")
        dialog = self._dialogs.get(call_id)
        if dialog is not None and dialog.is_answered:  # a repetition, or new media
            dialog.audio.speak_to(media_address(invite.body))
            self._answer(dialog, invite, addr)
        elif call_id in self._opening or dialog is not None:
            return
        elif len(self._opening) + len(self._dialogs) >= _MAX_CALLS:
            self._send(response(invite, "486 Busy Here", _TAG), addr)
        else:
            self._opening.add(call_id)
            self._run(self._ring(invite, addr))

    async def _ring(self, invite: Message, addr: tuple[str, int]) -> None:
        call_id = invite.header("Call-ID")
        caller, called = user_of(invite.header("From")), user_of(invite.header("To"))
        try:
            audio, port = await Audio.open()
        except OSError:  # too many open files
            self._opening.discard(call_id)
            self._send(response(invite, "486 Busy Here", _TAG), addr)
            return
        path = self._folder / f"{_safe(self._name_of(caller, called))}.wav"
        dialog = self._dialogs[call_id] = _Dialog(invite, audio, port, path)
        self._opening.discard(call_id)
        self._say(f"{called}: rings, called by {caller}")
        self._send(response(invite, "180 Ringing", _TAG, (("Contact", self._contact),)), addr)
        await asyncio.sleep(_RINGS_S)
        if call_id not in self._dialogs:  # it was canceled
            return
        dialog.is_answered = True
        audio.speak_to(media_address(invite.body))
        self._answer(dialog, invite, addr)
        self._say(f"{called}: answered")

    def _answer(self, dialog: _Dialog, request: Message, addr: tuple[str, int]) -> None:
        more = (("Contact", self._contact), _TYPE)
        self._send(response(request, "200 OK", _TAG, more, dialog.description), addr)

    def _canceled(self, cancel: Message, addr: tuple[str, int]) -> None:
        self._send(response(cancel, "200 OK", _TAG), addr)
        dialog = self._dialogs.get(cancel.header("Call-ID"))
        if dialog is not None and not dialog.is_answered:
            self._send(response(dialog.invite, "487 Request Terminated", _TAG), addr)
            self._end(cancel.header("Call-ID"))

    def _end(self, call_id: str) -> None:
        dialog = self._dialogs.pop(call_id, None)
        if dialog is None:
            return
        dialog.audio.close()
        called = user_of(dialog.invite.header("To"))
        if not dialog.is_answered:
            self._say(f"{called}: not answered")
            return
        try:
            write_wav(dialog.path, bytes(dialog.audio.heard))
        except OSError as error:
            self._say(f"{called}: hung up; {dialog.path} was not written: {error.strerror}")
            return
        self._say(f"{called}: hung up; {dialog.path}")

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _send(self, message: Message, addr: tuple[str, int]) -> None:
        if self._udp is not None:
            self._udp.sendto(message.encode(), addr)


def _safe(name: str) -> str:
    """Return a name without what a file name must not have: numbers come from strangers."""
    return re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)[:100]
