"""The real fail2ban with the shipped filter and jail: unpacked, not installed, it has no effect."""

import shutil
import subprocess
from pathlib import Path

from dev.pbx.debian_root import cache_dir
from dev.setup.debian import ensure_unpacked

SHIPPED = Path(__file__).parents[2] / "docs/operations/fail2ban"
NAME = "switchroom-pbx"
LOGS = "/var/lib/switchroom-pbx/var/log/"


class Fail2ban:
    """Its programs, and a configuration in a folder as operators install it."""

    def __init__(self, folder: Path) -> None:
        self._package = ensure_unpacked("fail2ban", cache_dir())
        self._config = folder / "fail2ban"
        shutil.copytree(self._package / "etc/fail2ban", self._config)
        shutil.rmtree(self._config / "jail.d")  # Debian's own jail
        shutil.copytree(SHIPPED, self._config, dirs_exist_ok=True)

    def accused(self, log: Path) -> set[str]:
        """Return the addresses that its filter finds in a log."""
        done = self._run("fail2ban-regex", "-o", "ip", str(log), NAME)
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())

    def test_configuration(self, logs: Path) -> subprocess.CompletedProcess[str]:
        """Let it read filter, jail and actions, with another folder of logs than the unit's."""
        jail = self._config / f"jail.d/{NAME}.conf"
        text = jail.read_text()
        assert LOGS in text
        jail.write_text(text.replace(LOGS, f"{logs}/"))
        return self._run("fail2ban-client", "--test")

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        modules = self._package / "usr/lib/python3/dist-packages"
        path = f"{self._package}/usr/bin/{program}"
        argv = ("/usr/bin/python3", path, "-c", str(self._config), *arguments)
        env = {"PYTHONPATH": str(modules), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(argv, check=False, capture_output=True, text=True, env=env)
