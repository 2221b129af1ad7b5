"""Builds the site in a folder: its pages, its configuration, and then Zensical."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.docs import published
from tools.site.check import check_site
from tools.site.config import build_config
from tools.site.llms import llms_text
from tools.site.mermaid import SCRIPT
from tools.site.pages import stage

ZENSICAL = Path(sys.executable).with_name("zensical")


def build(folder: Path, script: Path | None) -> list[str]:
    """Build the site in a folder and return what is wrong; `script` draws diagrams."""
    pages, html = folder / "docs", folder / "html"
    for each in (pages, html):
        shutil.rmtree(each, ignore_errors=True)
    stage(pages, has_mermaid=script is not None)
    published.write(pages)
    if script is not None:
        shutil.copyfile(script, pages / SCRIPT)
    (pages / "llms.txt").write_text(llms_text())
    (folder / "zensical.toml").write_text(build_config(scripts=[SCRIPT] if script else []))
    subprocess.run(
        [ZENSICAL, "build", "--clean"], check=True, cwd=folder, env={**os.environ, "NO_COLOR": "1"}
    )
    for page in pages.rglob("*.md"):  # for programs that read them, by llms.txt
        copy = html / page.relative_to(pages)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
    return check_site(html)
