"""Imports the mutated module where a process has not imported it yet, also one that it starts."""

import ast
import importlib.util
import os
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

from tools.mutants.mutations import Mutant, mutate
from tools.mutants.packages import ROOT

MUTANT = "SWITCHROOM_MUTANT"  # the one of this process and of those that it starts, as JSON
INHERITED = Path(__file__).with_name("inherited")


def pass_on(mutant: Mutant) -> None:
    """Put a mutant into all Python processes that this one starts."""
    os.environ[MUTANT] = msgspec.json.encode(mutant).decode()
    folders = (str(INHERITED), str(ROOT), os.environ.get("PYTHONPATH", ""))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))


def inherited_mutant() -> Mutant | None:
    """Return the mutant that the process which started this one has passed on."""
    text = os.environ.get(MUTANT)
    return msgspec.json.decode(text, type=Mutant) if text else None


class MutantLoader(SourceFileLoader):
    """Loads a module from its mutated syntax tree."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        """Compile the tree instead of the file."""
        assert fullname == self.name
        return compile(self._tree, self.path, "exec", dont_inherit=True)


class MutantFinder:
    """Finds one module, the mutated one; others are found as usual."""

    def __init__(self, mutant: Mutant) -> None:
        path = ROOT / mutant.path
        self._name = mutant.path.removesuffix(".py").replace("/", ".")
        self._loader = MutantLoader(self._name, str(path), mutate(path.read_text(), mutant.index))

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Return the mutated module's specification."""
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._loader.path, loader=self._loader)
