"""`switchroom doctor` before a lab runs, and beside one: it leads to the lab."""

import json
import subprocess
import sys
from pathlib import Path

from base.lab_folder import PLAN_FILE
from tests.harness.cli.forked import run_forked

_WITHOUT = """
import sys
sys.modules["obstore"] = None
from cli.main import main
sys.argv = ["switchroom", "doctor"]
main()
"""


def test_missing_packages_lead_to_the_lab() -> None:
    """`pip install switchroom` has no extras; a start of the lab installs them."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.endswith(
        "; `switchroom dev up` installs what a lab needs\n"
        "  packages_missing: `switchroom error show packages_missing` explains it\n"
    )


async def test_in_another_folder_the_folder_of_the_lab_is_named(tmp_path: Path) -> None:
    """An engine's settings are missing, as the `.env` of the lab is elsewhere."""
    state, lab, here = tmp_path / "state/switchroom/dev", tmp_path / "lab", tmp_path / "here"
    for folder in (state, lab, here):
        folder.mkdir(parents=True)
    (lab / ".env").touch()
    (state / PLAN_FILE).write_text(json.dumps({"dotenv": str(lab / ".env")}))
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = await run_forked(("doctor", "-o", "json"), here, environ)
    expected = f"no .env is in this folder: `cd {lab}`, or `switchroom dev up` here"
    assert {each["advice"] for each in json.loads(done.out)} == {expected}
