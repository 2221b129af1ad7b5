"""The console's words for what a key may do: for each scope and bundle, and no others."""

import re

from api.auth.principal import BUNDLES, SCOPES
from api.console.static_files import FOLDER

SOURCE = (FOLDER / "account/scopes.js").read_text()


def names_in(constant: str) -> list[str]:
    """Return the names in an object of the module."""
    block = SOURCE.split(f"export const {constant} = {{")[1].split("};")[0]
    return re.findall(r'^  "?([a-z:-]+)"?: "', block, re.MULTILINE)


def test_each_scope_and_bundle_has_words() -> None:
    """In the order of the lists."""
    assert names_in("SCOPES") == list(SCOPES)
    assert names_in("BUNDLES") == list(BUNDLES)
