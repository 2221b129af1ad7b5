"""The command that a start of the lab prints for customers' commands in other folders."""

import os
import subprocess
import sys
from pathlib import Path

from cli.options.connection import client_settings
from dev.lab.env_file import write_dotenv
from dev.lab.lifecycle import Lab
from dev.lab.plan import Plan
from dev.lab.summary import summary


def test_the_summary_has_the_command_for_a_profile(tmp_path: Path) -> None:
    """A shell that runs it as printed makes a profile with which customers' commands work."""
    lab = Lab.create(tmp_path / "state", Plan())
    settings = lab.settings
    write_dotenv(tmp_path / ".env", settings, tmp_path)
    printed = summary(lab, 1).partition("other folders:\n")[2]
    command = printed[: printed.index(")") + 1]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {"PATH": path, "XDG_CONFIG_HOME": str(tmp_path)}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environ, check=True)
    found = client_settings(environ=environ, dotenv=Path("/none"))
    assert (found.source, found.api_url) == ("profile lab", "http://127.0.0.1:8000")
    assert found.api_key == settings["SWITCHROOM_API_KEY"]
