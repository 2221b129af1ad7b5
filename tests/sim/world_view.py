"""What the checks see of a world, whether it has one engine or several."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tests.harness.sim.clock import SimClock
from tests.harness.sim.model import SimBridge, SimChannel, SimPlayback
from tests.harness.sim.recorder import Archive
from tests.harness.sim.recordings import SimFile
from tests.harness.sim.webhooks import SimServers
from tests.sim.controllers import Granted
from tests.sim.faults import Faults


class PbxView(Protocol):
    """All that was ever there on the PBX, or on all of them."""

    @property
    def channels(self) -> Mapping[str, SimChannel]:
        """Those that are there now; so with bridges, playbacks and files."""

    @property
    def bridges(self) -> Mapping[str, SimBridge]:
        """See channels."""

    @property
    def playbacks(self) -> Mapping[str, SimPlayback]:
        """See channels."""

    @property
    def files(self) -> Mapping[str, SimFile]:
        """See channels."""

    @property
    def past(self) -> Mapping[str, SimChannel]:
        """Those that have ended."""

    @property
    def past_bridges(self) -> Sequence[SimBridge]:
        """Those that are gone."""

    @property
    def heard(self) -> Mapping[str, SimPlayback]:
        """Every playback that was ever asked for."""

    @property
    def all_files(self) -> Mapping[str, SimFile]:
        """Every file that there ever was."""

    @property
    def violations(self) -> Sequence[tuple[str, str]]:
        """What no caller should have to hear."""

    @property
    def called_again(self) -> Sequence[str]:
        """Parties that were called twice."""


class WorldView(Protocol):
    """A world that has come to its end."""

    @property
    def clock(self) -> SimClock:
        """Its time."""

    @property
    def faults(self) -> Faults:
        """What struck it."""

    @property
    def pbx(self) -> PbxView:
        """What its callers heard."""

    @property
    def servers(self) -> SimServers:
        """What its customers were asked."""

    @property
    def graphs(self) -> Mapping[str, bytes]:
        """The flows that are graphs."""

    @property
    def archive(self) -> Archive:
        """What was recorded."""

    @property
    def granted(self) -> Sequence[Granted]:
        """What somebody asked of a call and was not refused."""

    @property
    def digits(self) -> Sequence[tuple[str, str, int]]:
        """The keys that engines heard: channel, digit, when."""

    def has_ami_digits(self, begin_ms: float, end_ms: float) -> bool:
        """Tell whether who took calls up in a time has heard the keys of that time."""

    @property
    def task_errors(self) -> Sequence[str]:
        """What escaped from engines' tasks."""

    @property
    def is_at_rest(self) -> bool:
        """Whether all is over and well."""
