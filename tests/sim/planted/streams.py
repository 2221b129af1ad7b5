"""Planted faults of streams: reports that are lost or misdirected, commands that are not run."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.stream_commands import StopStream, StreamCommand
from engine.runtime.base.interfaces import StreamRunner
from engine.runtime.streams.gateway_client import ReportListener
from wire.streams.reports import Report, Snapshot, StreamConnected, Transcribed


class _ListenerProxy:
    def __init__(self, listener: ReportListener) -> None:
        self._listener = listener

    def on_connected(self) -> None:
        self._listener.on_connected()

    def on_disconnected(self) -> None:
        self._listener.on_disconnected()


class DroppingReportListener(_ListenerProxy):
    """Drops the reports of one kind."""

    def __init__(self, listener: ReportListener, kind: type[Report]) -> None:
        super().__init__(listener)
        self._kind = kind

    def on_report(self, report: Report) -> None:
        if not isinstance(report, self._kind):
            self._listener.on_report(report)


class ForgetfulListener(_ListenerProxy):
    """Drops the transcripts of a snapshot."""

    def on_report(self, report: Report) -> None:
        if isinstance(report, Snapshot):
            live = tuple(replace(each, transcript=None) for each in report.live)
            report = replace(report, live=live)
        self._listener.on_report(report)


class MisdirectingListener(_ListenerProxy):
    """Gives each transcript to the stream after its own, too."""

    def __init__(self, listener: ReportListener) -> None:
        super().__init__(listener)
        self._last: Transcribed | None = None

    def on_report(self, report: Report) -> None:
        self._listener.on_report(report)
        if isinstance(report, Transcribed):
            self._last = report
        elif isinstance(report, StreamConnected) and self._last is not None:
            self._listener.on_report(replace(self._last, stream=report.stream))


class EndlessStreams:
    """Reports success for the ends of streams, but lets them go on."""

    def __init__(self, streams: StreamRunner) -> None:
        self._streams = streams

    def run(self, command: StreamCommand, call: Call, done: Callable[[Event | None], None]) -> None:
        if isinstance(command, StopStream):
            done(None)
        else:
            self._streams.run(command, call, done)
