"""SimAsterisk: one PBX as ARI shows it, by the rules measured on Asterisk 22.10 (docs/asterisk.md).

Requests come by `handle`, events leave by `tell`.
"""

from typing import ClassVar

import msgspec

from engine.ari.request import Reply, Request
from tests.harness.sim.recordings import MONITOR, SimTapes
from tests.harness.sim.request import (
    KNOWN,
    NO_CONTENT,
    NOT_FOUND,
    OK,
    REFUSED,
    Answered,
    Asked,
    Deeds,
)


class SimAsterisk(SimTapes):
    """All that the engine asks of a PBX."""

    def handle(self, request: Request, reply: Answered) -> None:
        """Do a request; `reply` is called now, or, where Asterisk would block, later."""
        kind, target, deed, more, *_ = (*request.path.split("/"), "", "", "")
        if kind == "recordings":
            kind, target, deed, more = f"{kind}/{target}", deed, more, ""
        asked = Asked(target, deed, more, dict(request.query), reply)
        answer = self.DEEDS[request.method, kind, deed](self, asked)
        if answer is not None:
            reply(answer)

    def _list_channels(self) -> Reply:
        return Reply(200, msgspec.json.encode([each.shape() for each in self.channels.values()]))

    def _list_or_show(self, asked: Asked) -> Reply:
        if not asked.target:
            return self._list_channels()
        return OK if asked.target in self.channels else NOT_FOUND

    def _make(self, asked: Asked) -> Reply:
        channel_id = asked.query["channelId"]
        if channel_id in self.channels:
            return KNOWN
        if not self._phones.is_reachable(asked.query["endpoint"]):
            return REFUSED
        channel = self._channel(channel_id, asked.query["endpoint"], asked.query["app"])
        if self.is_heard(channel.app):
            self._entered(channel, "called")
        else:
            self._end(channel, 0, 0)  # Stasis() fails
        return OK

    def _mark(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        channel.marks.add(asked.query["variable"])
        return NO_CONTENT

    def _show_mark(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel and asked.query["variable"] == MONITOR:
            return self.shown(channel)
        return OK if channel and asked.query["variable"] in channel.marks else NOT_FOUND

    def _dial(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        if channel.state != "Down":
            return KNOWN
        if channel.is_dialled:
            self.wrong.append((channel.id, "called twice, which ends it"))
            self._end(channel, 16, 0)
            return NO_CONTENT
        if channel.id in self.past and self.past[channel.id].is_dialled:
            self.called_again.append(channel.id)
        channel.is_dialled = True
        timeout_ms = int(asked.query["timeout"]) * 1000
        self._clock.after(timeout_ms, self.refuses, self, channel, 480)
        self._phones.called(channel)
        return NO_CONTENT

    def _answer(self, asked: Asked) -> Reply | None:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        if channel.playing:
            self.wrong.append((channel.id, "the lane of other calls blocked behind a playback"))
            channel.blocked.append(lambda: asked.reply(self._answer(asked) or NOT_FOUND))
            return None
        if channel.state != "Up":
            self._up(channel)
            self._phones.up(channel)
        return NO_CONTENT

    def _hang_up(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        cause = int(asked.query.get("reason_code", "16"))
        self._end(channel, cause if channel.state == "Up" else 16, 0)
        return NO_CONTENT

    DEEDS: ClassVar[Deeds] = {
        **SimTapes.DEEDS,
        ("GET", "channels", ""): _list_or_show,
        ("POST", "channels", ""): _make,
        ("POST", "channels", "dial"): _dial,
        ("POST", "channels", "variable"): _mark,
        ("GET", "channels", "variable"): _show_mark,
        ("DELETE", "channels", ""): _hang_up,
        ("POST", "channels", "answer"): _answer,
    }
