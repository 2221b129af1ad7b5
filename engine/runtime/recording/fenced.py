"""A recorder that starts and stops recordings only while the slot's lease holds."""

from collections.abc import Callable

from engine.calls.model.commands import RecordingCommand
from engine.calls.model.events import Event
from engine.runtime.recording.recorder import Recorder
from engine.store.lease import LeaseView


class FencedRecorder:
    """Runs a slot's recording commands as long as its lease holds."""

    def __init__(self, recorder: Recorder, lease: LeaseView) -> None:
        self.abandon = recorder.abandon
        self._recorder = recorder
        self._lease = lease

    def run(
        self, command: RecordingCommand, call: str, done: Callable[[Event | None], None]
    ) -> None:
        """Run a command unless the lease is over."""
        self._recorder.run(command, call, done, lambda: self._lease.holds)
