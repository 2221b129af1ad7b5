"""The folder of a node's control socket, which is where all users may write."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.errors import UnusableFolder
from dev.pbx.asterisk import AsteriskNode
from dev.pbx.find import Asterisk
from dev.pbx.node import NodeSettings, Ports, Secrets


@pytest.fixture
def node(tmp_path: Path) -> Iterator[AsteriskNode]:
    """Give a node whose Asterisk must not be looked for."""

    def find() -> Asterisk:
        raise AssertionError

    settings = NodeSettings("pbx1", Ports(1, 2, 3), Secrets("a", "b", "c"), "sip:127.0.0.1")
    found = AsteriskNode(tmp_path / "pbx1", settings, bound=True, find=find)
    yield found
    found.run_dir.unlink(missing_ok=True)


def test_a_link_of_another_user_is_not_followed(node: AsteriskNode, tmp_path: Path) -> None:
    """Who put it there would have the control socket of the PBX."""
    node.run_dir.symlink_to(tmp_path)
    with pytest.raises(UnusableFolder, match="belongs to another user"):
        node.prepare()
