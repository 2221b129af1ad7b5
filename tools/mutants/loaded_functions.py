"""Puts a mutant into functions that this process has loaded, instead of into a new import."""

import gc
import inspect
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tools.mutants.mutations import UNCHANGED, Mutant, mutate
from tools.mutants.packages import ROOT

KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
Pair = tuple[CodeType, CodeType]  # a function's own code and its mutant's


class LoadedFunctions:
    """The functions of this process by file; functions made later are not among them."""

    def __init__(self) -> None:
        self._by_file = defaultdict[str, list[FunctionType]](list)
        for each in gc.get_objects():
            if type(each) is FunctionType:
                self._by_file[each.__code__.co_filename].append(each)

    def put(self, mutant: Mutant) -> bool:
        """Change the functions that a mutant changes; False: it changes what an import runs."""
        if mutant.index == UNCHANGED:
            return True
        file = str(ROOT / mutant.path)
        pairs = changed_functions(*_codes(file, mutant.index))
        if pairs is None:
            return False
        live = defaultdict[Hashable, list[FunctionType]](list)
        for function in self._by_file[file]:
            live[_identity(function.__code__)].append(function)
        for outermost, (own, mutated) in pairs:
            functions = live[_identity(own)]
            if (outermost and not functions) or (own.co_flags ^ mutated.co_flags) & KINDS:
                return False
            for function in functions:
                if len(mutated.co_freevars) != len(own.co_freevars):
                    return False
                function.__code__ = mutated
        return True


def is_loaded(mutant: Mutant) -> bool:
    """Whether this process has imported the mutant's module."""
    return mutant.path.removesuffix(".py").replace("/", ".") in sys.modules


def changed_functions(own: CodeType, mutated: CodeType) -> list[tuple[bool, Pair]] | None:
    """List the functions of a module that differ; None: so does what its import runs.

    The first value is whether the function is in no other function.
    """
    if _without_functions(own) != _without_functions(mutated):
        return None
    pairs = zip(_functions_of(own), _functions_of(mutated), strict=True)
    return [pair for each in pairs for pair in _differing(*each, outermost=True)]


def _differing(own: CodeType, mutated: CodeType, *, outermost: bool) -> Iterator[tuple[bool, Pair]]:
    """Find a function and those in it: a live one in it may come from a call before the change."""
    if own == mutated:
        return
    yield outermost, (own, mutated)
    inner = {_place(each): each for each in _functions_of(mutated)}
    for each in _functions_of(own):
        if other := inner.get(_place(each)):
            yield from _differing(each, other, outermost=False)


def _codes(file: str, index: int) -> Pair:
    source = Path(file).read_text()
    own, mutated = (
        compile(mutate(source, each), file, "exec", dont_inherit=True)
        for each in (UNCHANGED, index)
    )
    return own, mutated


def _is_function(code: CodeType) -> bool:
    """Whether it runs when called: bodies of modules and classes run at import."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED)


def _functions_of(code: CodeType) -> Iterator[CodeType]:
    """Find the functions that a body makes, also those of its classes."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if _is_function(each):
                yield each
            else:
                yield from _functions_of(each)


def _without_functions(code: CodeType) -> CodeType:
    consts = (
        (None if _is_function(each) else _without_functions(each))
        if isinstance(each, CodeType)
        else each
        for each in code.co_consts
    )
    return code.replace(co_consts=tuple(consts))


def _place(code: CodeType) -> Hashable:
    return code.co_qualname, code.co_firstlineno, next(iter(code.co_positions()), None)


def _identity(code: CodeType) -> Hashable:
    """Return what is equal for equal code, whether or not it has run and was specialized."""
    return code.co_qualname, code.co_firstlineno, code.co_code, tuple(code.co_positions())
