"""Alerts and their configuration, as the programs of Prometheus read them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.harness.operations.manifests import OPERATIONS

NO_PROMTOOL = "promtool is not on this machine (Debian's package prometheus has it)"


@pytest.mark.skipif(not shutil.which("promtool"), reason=NO_PROMTOOL)
@pytest.mark.parametrize("name", ["prometheus.yaml", "prometheus-tls.yaml"])
def test_promtool_accepts_the_configuration(tmp_path: Path, name: str) -> None:
    """With the alerts, at the paths that Compose mounts them at."""
    text = (OPERATIONS / "observability" / name).read_text()
    (tmp_path / name).write_text(text.replace("/tls/ca.crt", f"{tmp_path}/ca.crt"))
    (tmp_path / "ca.crt").write_text("")
    shutil.copy(OPERATIONS / "alerts.yaml", tmp_path)
    command = ["promtool", "check", "config", str(tmp_path / name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 rule files found" in done.stdout


def test_the_commands_make_a_rule_of_all_alerts(tmp_path: Path) -> None:
    """The block in metrics.md, with a `kubectl` that keeps what it gets."""
    (block,) = re.findall(
        r"```sh\n(kubectl [^`]*pod-monitors.*?)```",
        (OPERATIONS / "metrics.md").read_text(),
        re.DOTALL,
    )
    pretend = tmp_path / "kubectl"
    pretend.write_text(f'#!/bin/sh\ncase "$*" in *-) cat > {tmp_path}/rule.yaml ;; esac\n')
    pretend.chmod(0o755)
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    subprocess.run(
        ["bash", "-euc", block],
        check=True,
        cwd=OPERATIONS.parents[1],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    rule = yaml.safe_load((tmp_path / "rule.yaml").read_text())
    assert rule["kind"] == "PrometheusRule"
    assert rule["spec"] == yaml.safe_load((OPERATIONS / "alerts.yaml").read_text())
