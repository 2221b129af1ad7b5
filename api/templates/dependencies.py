"""What the slice's routes are given."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.templates.plugin import TemplateSlice

BASE = "/srmain/msgapp_templates"
READ_ERRORS = (401, 429, 503)  # what may be answered where the platform is asked


async def slice_of(request: Request) -> TemplateSlice:
    """Give the slice of this process."""
    found: TemplateSlice = request.app.state.services.templates
    return found


Slice = Annotated[TemplateSlice, Depends(slice_of)]
TemplateId = Annotated[str, Path(alias="id")]
