"""What stops a start, as one sentence with its remedy."""

from pathlib import Path

import pytest

from dev.errors import NoSpace, UnfitAsterisk
from dev.pbx.find import CONFIG, check_modules, check_version, missing_modules
from dev.setup.debian import UNREACHED
from dev.setup.disk import check_space, used_bytes


@pytest.mark.parametrize("version", ["Asterisk 16.28.0~dfsg-0", "Asterisk 1.8.1", "no Asterisk"])
def test_an_old_asterisk_is_not_used(version: str) -> None:
    """Its version is named, and which one is needed."""
    with pytest.raises(UnfitAsterisk, match="version 20 or later is needed"):
        check_version("/usr/sbin/asterisk", version)


@pytest.mark.parametrize("version", ["Asterisk 20.21.0", "Asterisk certified/20.7-cert3",
                                     "Asterisk 22.10.1~dfsg"])  # fmt: skip
def test_a_recent_asterisk_is_used(version: str) -> None:
    """Releases, certified ones, and those of distributions."""
    check_version("/usr/sbin/asterisk", version)


def test_missing_modules_are_listed(tmp_path: Path) -> None:
    """All that our configuration loads, but for opus, which the lab does not offer."""
    needed = missing_modules(tmp_path)
    assert "res_pjsip.so" in needed
    assert not [each for each in needed if "opus" in each]
    loaded = (CONFIG / "etc/modules.conf").read_text()
    assert all(f"load = {each}" in loaded for each in needed)
    for each in needed[1:]:
        (tmp_path / each).touch()
    with pytest.raises(UnfitAsterisk, match=f"lacks modules in {tmp_path}: {needed[0]};"):
        check_modules(tmp_path)
    (tmp_path / needed[0]).touch()
    check_modules(tmp_path)


def test_a_full_disk_is_noticed_before_anything_is_loaded(tmp_path: Path) -> None:
    """Also if the folder does not exist yet; the sentence has both sizes."""
    with pytest.raises(NoSpace, match=r"GB free, and 1000000\.0 GB are needed: free some space"):
        check_space(tmp_path / "new" / "folder", 10**15)
    check_space(tmp_path / "new", 1)


def test_the_space_of_a_folder(tmp_path: Path) -> None:
    """As the disk counts it; one that does not exist takes nothing."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/file").write_bytes(b"x" * 5_000)
    assert 5_000 <= used_bytes(tmp_path) <= 50_000
    assert used_bytes(tmp_path / "none") == 0


@pytest.mark.parametrize(
    "printed",
    [
        "Err:1 http://deb.debian.org Temporary failure resolving 'deb.debian.org'",
        "E: Failed to fetch http://x  Could not connect to x:80 (1.2.3.4), connection timed out",
        "E: Failed getting release file: Unable to connect",
        "W: Couldn't download package debconf",
        "E: Failed getting release file http://deb.debian.org/debian/dists/forky/Release",
        "WARNING: Retrying: NewConnectionError('Failed to establish a new connection: [Errno -2]')",
        "error: error sending request for url (https://pypi.org/simple/redis/)",
    ],
)
def test_a_missing_network_is_recognised(printed: str) -> None:
    """By what apt, debootstrap, pip and uv print."""
    assert UNREACHED.search(printed)


def test_other_failures_are_no_missing_network() -> None:
    """Their own output is shown."""
    assert not UNREACHED.search("ERROR: No matching distribution found for redis>=99")
