"""The URLs of an engine, for other engines and for PBX nodes; and whether it has an archive."""

from pathlib import Path

import pytest

from engine.app import connections
from tests.harness.settings import SECRET, read_settings

PLAIN = {"name": "pbx1", "url": "http://pbx1:8088", "password": SECRET}
WITH_MEDIA_URL = {
    **PLAIN, "name": "pbx2", "url": "http://pbx2:8088", "media_url": "http://engine.audio:9000/"
}  # fmt: skip


def urls(**given: object) -> tuple[str, list[str]]:
    """Return the URL of the RPC, and where each node fetches audio."""
    settings = read_settings({"rpc_port": 8071, "nodes": [PLAIN, WITH_MEDIA_URL], **given})
    audio = [connections.media_url(settings, node) for node in settings.nodes]
    return connections.rpc_url(settings), audio


def test_audio_is_fetched_from_the_rpc() -> None:
    """Nodes fetch audio from the URL of the RPC, unless they have a media URL."""
    assert urls() == (
        "http://127.0.0.1:8071",
        ["http://127.0.0.1:8071", "http://engine.audio:9000"],
    )
    assert urls(media_url="http://audio.example:8070/") == (
        "http://127.0.0.1:8071",
        ["http://audio.example:8070", "http://engine.audio:9000"],
    )
    assert urls(rpc_url="http://10.1.2.3:8070") == (
        "http://10.1.2.3:8070",
        ["http://10.1.2.3:8070", "http://engine.audio:9000"],
    )


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "pbx1:5060"),
        ({"sip_port": 5062}, "pbx1:5062"),
        ({"sip_host": "sip.example"}, "sip.example:5060"),
        ({"url": "http://[fd00::1]:8088"}, "[fd00::1]:5060"),
    ],
)
def test_where_other_nodes_call_a_phone(given: dict[str, object], address: str) -> None:
    """The host of the ARI's URL and the SIP port, unless the node has others."""
    settings = read_settings({"nodes": [{**PLAIN, **given}]})
    assert settings.nodes[0].sip_address == address


@pytest.mark.parametrize(
    ("given", "is_open"),
    [
        ({}, False),
        ({"nodes": [{**PLAIN, "ami_password": SECRET}]}, True),
        ({"nodes": [PLAIN], "ami_password": SECRET}, True),
        ({"node_dns": "pbx:8088", "node_password": SECRET, "ami_password": SECRET}, True),
    ],
)
async def test_the_archive_opens_if_a_node_can_record(
    tmp_path: Path, given: dict[str, object], is_open: bool
) -> None:
    """Including discovered nodes; without an AMI password nothing is recorded."""
    settings = read_settings({"recordings_url": f"file://{tmp_path}/new", **given})
    assert (await connections.archive(settings) is not None) == is_open
    assert (tmp_path / "new").exists() == is_open
