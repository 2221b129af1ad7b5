"""Where an engine is, for other engines and for PBX nodes; and whether it keeps recordings."""

from pathlib import Path

import pytest

from engine.app import connections
from tests.harness.settings import read_settings

PLAIN = {"name": "pbx1", "url": "http://pbx1:8088", "password": "secret"}
APART = {
    **PLAIN, "name": "pbx2", "url": "http://pbx2:8088", "media_url": "http://engine.audio:9000/"
}  # fmt: skip


def told(**given: object) -> tuple[str, list[str]]:
    """Give the address of the RPC, and where each node fetches audio."""
    settings = read_settings(
        {"rpc_token": "secret", "rpc_port": 8071, "nodes": [PLAIN, APART], **given}
    )
    audio = [connections.media_url(settings, node) for node in settings.nodes]
    return connections.rpc_url(settings), audio


def test_audio_is_where_the_rpc_is() -> None:
    """Nodes fetch audio where other engines reach the RPC, unless told another address."""
    assert told() == (
        "http://127.0.0.1:8071",
        ["http://127.0.0.1:8071", "http://engine.audio:9000"],
    )
    assert told(rpc_url="http://10.1.2.3:8070") == (
        "http://10.1.2.3:8070",
        ["http://10.1.2.3:8070", "http://engine.audio:9000"],
    )


@pytest.mark.parametrize(
    ("given", "is_open"),
    [
        ({}, False),
        ({"nodes": [{**PLAIN, "ami_password": "x"}]}, True),
        ({"nodes": [PLAIN], "ami_password": "x"}, True),
        ({"node_dns": "pbx:8088", "node_password": "x", "ami_password": "x"}, True),
    ],
)
async def test_an_archive_wherever_something_is_recorded(
    tmp_path: Path, given: dict[str, object], is_open: bool
) -> None:
    """Nodes that the DNS alone names are recorded, too; without a password nothing is."""
    settings = read_settings(
        {"rpc_token": "x", "recordings_url": f"file://{tmp_path}/new", **given}
    )
    assert (await connections.archive(settings) is not None) == is_open
    assert (tmp_path / "new").exists() == is_open
