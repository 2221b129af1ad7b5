"""Dependencies on the services of the process (`api.services.Services`)."""

from operator import attrgetter
from typing import Any

from fastapi import Depends, Request


def service(path: str) -> Any:
    """Return the dependency on a service, such as `service("contacts.search")`.

    It is a coroutine although it awaits nothing: FastAPI runs plain functions in a thread, which is
    slower.
    """
    find = attrgetter(path)

    async def get(request: Request) -> Any:
        return find(request.app.state.services)

    return Depends(get)
