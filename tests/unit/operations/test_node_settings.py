"""The table of a node's settings, from which the reference is generated."""

from runpy import run_path

from tests.harness.operations.inputs import TEMPLATES, placeholders
from tests.harness.operations.pbx_script import FOLDER, node_values

SETTINGS = run_path(str(FOLDER / "node_settings.py"))["SETTINGS"]


def test_what_has_no_value_of_its_own_is_required() -> None:
    """Without it the configuration cannot be written, and the table says so."""
    used = {name for path in TEMPLATES.rglob("*.conf") for name in placeholders(path)}
    required = {name for name, each in SETTINGS.items() if each.default is None}
    derived = {name for name in required if SETTINGS[name].without}
    assert used - node_values({}).keys() == required - derived
    assert derived < node_values({}).keys()


def test_each_setting_says_what_it_means() -> None:
    """In sentences."""
    assert [name for name, each in SETTINGS.items() if not each.meaning.endswith(".")] == []
