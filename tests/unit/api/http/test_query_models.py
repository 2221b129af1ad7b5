"""What people send in a query has no unknown parameters: a mistyped filter is no filter."""

from collections.abc import Iterator

from pydantic import BaseModel

import api.app  # noqa: F401 - imports all slices
from tests.harness.each import for_each

SETTINGS = "api.config"


def _models(base: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    for each in base.__subclasses__():
        # Settings are those of several programs: each reads its own.
        if each.__module__.startswith("api.") and each.__module__ != SETTINGS:
            yield each
        yield from _models(each)


@for_each(lambda: set(_models()), lambda each: each.__qualname__)
def test_unknown_parameters_are_refused(model: type[BaseModel]) -> None:
    """And values do not change once they are valid."""
    assert model.model_config.get("extra") == "forbid"
    assert model.model_config.get("frozen") is True
