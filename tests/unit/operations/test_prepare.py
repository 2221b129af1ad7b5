"""The values of the PBX configuration: defaults, the environment, and what is derived."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[3] / "asterisk-config"


@pytest.fixture
def prepare(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load the script, which imports its neighbour."""
    monkeypatch.syspath_prepend(FOLDER)  # as for a script: its folder is no package
    spec = spec_from_file_location("prepare", FOLDER / "prepare.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop("music", None)
    return module


def test_an_empty_variable_counts_as_not_set(prepare: ModuleType) -> None:
    """Compose passes variables that the operator did not set as empty ones."""
    found = prepare.values(Path("/x"), {"PBX_RTP_TIMEOUT_S": "", "PBX_TRUNK_TRUSTED": "yes"})
    assert (found["RTP_TIMEOUT_S"], found["TRUNK_TRUSTED"], found["EXTERNAL"]) == ("45", "yes", "")


def test_an_external_address(prepare: ModuleType) -> None:
    """SIP and SDP have it, except for peers in local networks."""
    environ = {"PBX_EXTERNAL_ADDRESS": "198.51.100.7", "PBX_LOCAL_NETS": "10.0.0.0/8, 192.0.2.0/24"}
    assert prepare.values(Path("/x"), environ)["EXTERNAL"].splitlines() == [
        "external_signaling_address = 198.51.100.7",
        "external_media_address = 198.51.100.7",
        "local_net = 10.0.0.0/8",
        "local_net = 192.0.2.0/24",
    ]
