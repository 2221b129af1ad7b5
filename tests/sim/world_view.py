"""What the checks see of a world, whether it has one engine or several."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tests.harness.sim.clock import SimClock
from tests.harness.sim.model import SimBridge, SimChannel, SimPlayback
from tests.harness.sim.recorder import Archive
from tests.harness.sim.recordings import SimFile
from tests.harness.sim.streams.recognizers import SimRecognizer
from tests.harness.sim.webhooks import SimServers
from tests.sim.controllers import Granted
from tests.sim.faults import Faults


class PbxView(Protocol):
    """Everything that ever existed on the PBX, or on all of them."""

    @property
    def channels(self) -> Mapping[str, SimChannel]:
        """The existing channels; likewise bridges, playbacks and files."""

    @property
    def bridges(self) -> Mapping[str, SimBridge]: ...

    @property
    def playbacks(self) -> Mapping[str, SimPlayback]: ...

    @property
    def files(self) -> Mapping[str, SimFile]: ...

    @property
    def past(self) -> Mapping[str, SimChannel]:
        """The ended channels."""

    @property
    def past_bridges(self) -> Sequence[SimBridge]: ...

    @property
    def heard(self) -> Mapping[str, SimPlayback]:
        """Every playback that was ever requested."""

    @property
    def all_files(self) -> Mapping[str, SimFile]:
        """Every recording file, including deleted ones."""

    @property
    def violations(self) -> Sequence[tuple[str, str]]:
        """What no caller should ever hear."""

    @property
    def called_again(self) -> Sequence[str]:
        """Channels that were dialled twice."""


class WorldView(Protocol):
    """A world that has ended."""

    @property
    def clock(self) -> SimClock: ...

    @property
    def faults(self) -> Faults: ...

    @property
    def pbx(self) -> PbxView: ...

    @property
    def recognizers(self) -> Mapping[str, SimRecognizer]:
        """Every recognizer that ever was, by stream."""

    @property
    def gateway_gaps(self) -> Sequence[tuple[float, float]]:
        """When a stream gateway was away, or engines got no reports of it."""

    @property
    def gateway_cuts(self) -> Sequence[tuple[float, float]]:
        """When engines got no reports of a stream gateway, but its streams went on."""

    @property
    def servers(self) -> SimServers: ...

    @property
    def graphs(self) -> Mapping[str, bytes]:
        """The flows that are graphs."""

    @property
    def archive(self) -> Archive: ...

    @property
    def granted(self) -> Sequence[Granted]:
        """The control requests that were granted."""

    @property
    def digits(self) -> Sequence[tuple[str, str, int, int]]:
        """The DTMF events that engines received: channel, digit, time and length in ms."""

    def has_ami_digits(self, begin_ms: float, end_ms: float) -> bool:
        """Return whether any engine that resumed calls in an interval had its digits from AMI."""

    @property
    def task_errors(self) -> Sequence[str]:
        """Uncaught exceptions of the engines' tasks."""

    @property
    def max_log_lines(self) -> int:
        """How many lines the log of a call may have."""

    @property
    def is_at_rest(self) -> bool:
        """Whether all calls ended and all faults are over."""
