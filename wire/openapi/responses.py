"""Responses of success: what they contain, from the shape of their body."""

import inspect
from http import HTTPStatus
from typing import Any

from wire.openapi.components import Components


def success_response(status: int, shape: Any, components: Components) -> dict[str, Any]:
    """Return the response of success; without a shape it has no JSON body."""
    if shape is None:
        text = "Done; there is no body." if status == HTTPStatus.NO_CONTENT else "The content."
        return {"description": text}
    content = {"application/json": {"schema": components.of(shape)}}
    return {"description": _text_of(shape) or "The result.", "content": content}


def _text_of(shape: Any) -> str:
    """Return the first line of a shape's docstring."""
    return inspect.cleandoc(getattr(shape, "__doc__", None) or "").partition("\n")[0]
