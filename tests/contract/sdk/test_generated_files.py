"""The generated files of the SDKs are up to date."""

import re

from tools.docs.sdk import __main__ as generator
from tools.docs.sdk.operations import OPERATIONS, WITHOUT_METHOD
from tools.docs.sdk.sources import rest_document


def test_generated_files_are_up_to_date() -> None:
    """`make docs` changes none of them."""
    for path, text in generator.sources().items():
        assert path.read_text() == text, f"{path}: run `make docs`"


def test_each_operation_has_a_method_or_a_reason() -> None:
    """No operation of the REST layer is forgotten, and no reason is left over."""
    named = {f"{each.method} {each.path}" for each in OPERATIONS}
    unnamed = {
        f"{method.upper()} {path}"
        for path, operations in rest_document()["paths"].items()
        for method in operations
    } - named
    unused = [each for each in WITHOUT_METHOD if not any(re.fullmatch(each, o) for o in unnamed)]
    forgotten = [
        each for each in unnamed if not any(re.fullmatch(one, each) for one in WITHOUT_METHOD)
    ]
    assert (forgotten, unused) == ([], [])
