"""A mutant is put into functions that are loaded, or refused."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tools.mutants.loaded_functions import LoadedFunctions
from tools.mutants.mutations import mutants_of

SOURCE = """
LIMIT = 4

def is_small(number, limit=LIMIT):
    return number < limit

def adder(amount):
    def add(number):
        return number + amount
    return add

class Counter:
    step = 2

    def next(self, number):
        return number + self.step
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    """Load the module anew."""
    path = tmp_path / "numbers_to_change.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def put(module: ModuleType, before: str, after: str) -> bool:
    """Put the mutant of these texts; return whether it could be."""
    assert module.__file__
    (mutant,) = {
        each
        for each in mutants_of(module.__file__, SOURCE)
        if (each.before, each.after) == (before, after)
    }
    return LoadedFunctions().put(mutant)


def test_a_function_changes_in_place(module: ModuleType) -> None:
    """Whoever has it calls the mutant, also after it has run often enough to be specialized."""
    function = module.is_small
    assert not any(function(4) for _ in range(100))
    assert put(module, "number < limit", "number <= limit")
    assert function(4)


def test_a_method_changes_in_place(module: ModuleType) -> None:
    """Also for objects that exist already."""
    counter = module.Counter()
    assert put(module, "number + self.step", "number - self.step")
    assert counter.next(5) == 3


def test_a_function_that_another_has_made_changes(module: ModuleType) -> None:
    """As those that it makes from now on."""
    made_before = module.adder(2)
    assert put(module, "number + amount", "number - amount")
    assert made_before(5) == 3
    assert module.adder(2)(5) == 3


@pytest.mark.parametrize(("before", "after"), [("4", "5"), ("2", "3")])
def test_what_an_import_runs_is_refused(module: ModuleType, before: str, after: str) -> None:
    """Another module may have read the value of a module or a class."""
    assert not put(module, before, after)
