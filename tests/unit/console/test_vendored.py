"""The console's files: those of others are what vendored.toml says, ours load nothing else."""

import base64
import hashlib
import re
import tomllib
from pathlib import Path

from api.console.pages import PAGES
from api.console.rendering import FOLDER as TEMPLATES
from api.console.static_files import FOLDER
from tests.harness.each import for_each

VENDORED = FOLDER / "vendored"
OWN = [each for each in FOLDER.rglob("*.js") if VENDORED not in each.parents]
IMPORT = re.compile(
    r"""^(?:import|export)[^"';(=]*?(?:from )?["']([^"']+)["'];$|\bimport\(["']([^"']+)["']\)""",
    re.MULTILINE,
)


def test_vendored_files_have_the_hashes_that_are_listed() -> None:
    """None is missing, changed or additional."""
    listed = tomllib.loads((VENDORED / "vendored.toml").read_text())
    assert set(listed) == {each.name for each in VENDORED.glob("*.js")}
    for name, row in listed.items():
        digest = hashlib.sha384((VENDORED / name).read_bytes()).digest()
        assert base64.b64encode(digest).decode() == row["sha384"], name


@for_each(OWN, lambda path: path.name)
def test_our_modules_are_checked_and_import_ours_only(path: Path) -> None:
    """Each is checked by tsc, renders text as text, imports by a relative path, keeps numbers."""
    source = path.read_text()
    assert source.startswith("// @ts-check\n")
    assert not re.search(r"unsafeHTML|innerHTML|outerHTML|insertAdjacentHTML|eval\(", source)
    for found in IMPORT.finditer(source):
        target = found[1] or found[2]
        assert target.startswith(("./", "../")), target
        assert (path.parent / target).resolve().is_file(), target
    if path.name not in {"json.js", "json-scan.js"}:  # JavaScript's own JSON rounds integers
        assert not re.search(r"\bJSON\.(?:parse|stringify)\(|\.json\(\)", source)


def test_each_page_has_a_component_and_a_path_of_its_own() -> None:
    """And templates escape: none marks text as safe."""
    assert len({each.path for each in PAGES}) == len(PAGES)
    for page in PAGES:
        source = (FOLDER / page.module).read_text()
        assert f'customElements.define("{page.element}"' in source, page.path
        assert not page.style or (FOLDER / page.style).is_file()
    for template in TEMPLATES.glob("*.html"):
        assert not re.search(r"\|\s*safe\b|autoescape", template.read_text()), template
