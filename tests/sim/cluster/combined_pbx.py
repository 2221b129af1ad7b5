"""CombinedPbx: all PBXs of a world as the checks see them: as one."""

from collections import ChainMap
from collections.abc import Mapping, Sequence

from tests.harness.sim.model import SimBridge, SimChannel, SimPlayback
from tests.harness.sim.pbx import SimPbx
from tests.harness.sim.recordings import SimFile


class CombinedPbx:
    """Ids contain their node's name, so that they are unique."""

    def __init__(self, pbxs: Sequence[SimPbx]) -> None:
        self._pbxs = pbxs
        self.channels: Mapping[str, SimChannel] = ChainMap(*(each.channels for each in pbxs))
        self.bridges: Mapping[str, SimBridge] = ChainMap(*(each.bridges for each in pbxs))
        self.playbacks: Mapping[str, SimPlayback] = ChainMap(*(each.playbacks for each in pbxs))
        self.files: Mapping[str, SimFile] = ChainMap(*(each.files for each in pbxs))
        self.past: Mapping[str, SimChannel] = ChainMap(*(each.past for each in pbxs))
        self.heard: Mapping[str, SimPlayback] = ChainMap(*(each.heard for each in pbxs))
        self.all_files: Mapping[str, SimFile] = ChainMap(*(each.all_files for each in pbxs))

    @property
    def past_bridges(self) -> list[SimBridge]:
        return [bridge for each in self._pbxs for bridge in each.past_bridges]

    @property
    def violations(self) -> list[tuple[str, str]]:
        return [message for each in self._pbxs for message in each.violations]

    @property
    def called_again(self) -> list[str]:
        return [channel for each in self._pbxs for channel in each.called_again]
