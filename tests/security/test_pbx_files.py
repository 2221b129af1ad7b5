"""The PBX configuration that operators install: what its users may do, and who may read it."""

import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PASSWORDS = {"PBX_ARI_PASSWORD": "a", "PBX_AMI_PASSWORD": "b", "PBX_AGENT_PASSWORD": "c"}
PUBLIC = {"PBX_BIND": "192.0.2.1", "PBX_SIP_BIND": "192.0.2.1"}


def prepare(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script with some variables."""
    argv = (sys.executable, ROOT / "asterisk-config/prepare.py", folder)
    env = {**PASSWORDS, **variables}
    return subprocess.run(argv, env=env, check=False, capture_output=True, text=True)


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    """Write a configuration; returns its folder."""
    assert prepare(tmp_path).returncode == 0
    return tmp_path / "etc"


def options(path: Path, section: str) -> dict[str, str]:
    """Return a section's options; of a repeated one the last."""
    found = RawConfigParser(strict=False, inline_comment_prefixes=(";",))
    found.read(path)
    return dict(found[section])


def test_the_manager_user_has_no_console(etc: Path) -> None:
    """AMI runs no console command; `system` is what recording needs (docs/asterisk.md)."""
    assert options(etc / "manager.conf", "switchroom")["write"] == "system,reporting"


@pytest.mark.parametrize(
    ("file", "section"),
    [("manager.conf", "switchroom"), ("ari.conf", "switchroom"), ("http.conf", "/")],
)
def test_only_engines_are_served(etc: Path, file: str, section: str) -> None:
    """ARI and AMI, over TCP and HTTP, deny all addresses but the engines'."""
    found = options(etc / file, section)
    assert found["deny"] == "0.0.0.0/0,::/0"
    assert found["permit"] == "127.0.0.1/32,::1/128"


def test_files_with_passwords_are_private(etc: Path) -> None:
    """No other user reads the configuration, also when it is written again."""
    (etc / "ari.conf").chmod(0o644)
    assert prepare(etc.parent).returncode == 0
    assert {path.stat().st_mode & 0o077 for path in etc.iterdir()} == {0}


def test_manager_and_sip_at_one_address(tmp_path: Path) -> None:
    """ARI and AMI at SIP's public address are refused, unless a setting allows it."""
    refused = prepare(tmp_path, **PUBLIC)
    assert refused.returncode == 1
    assert "PBX_BIND" in refused.stderr
    assert prepare(tmp_path, **PUBLIC, PBX_SHARED_BIND="yes").returncode == 0


def test_a_recording_runs_no_program() -> None:
    """MixMonitor's program runs by /bin/sh, which Asterisk cannot execute as we install it."""
    unit = (ROOT / "docs/operations/systemd/switchroom-pbx.service").read_text()
    image = (ROOT / "asterisk-config/Dockerfile").read_text()
    assert "NoExecPaths=-/usr/bin/dash -/usr/bin/bash" in unit
    assert image.index("chmod o-x /usr/bin/dash /usr/bin/bash") < image.index("USER asterisk")


@pytest.mark.parametrize("name", ["trunk", "agent", "peers"])
def test_phones_cannot_transfer_by_default(etc: Path, name: str) -> None:
    """A REFER with `Refer-Sub: false` would crash the PBX, so each endpoint declines all."""
    text = (etc / "pjsip.conf").read_text()
    (endpoint,) = [
        part for part in text.split("\n[") if part.startswith(name) and "type = endpoint" in part
    ]
    assert "\nallow_transfer = no\n" in endpoint
