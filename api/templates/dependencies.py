"""Dependencies of the template routes."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.templates.plugin import TemplateSlice

BASE = "/srmain/msgapp_templates"
PLATFORM_ERRORS = (429, 503)  # of requests that the messaging platform has to answer


async def _slice(request: Request) -> TemplateSlice:
    template_slice: TemplateSlice = request.app.state.services.templates
    return template_slice


Slice = Annotated[TemplateSlice, Depends(_slice)]
TemplateId = Annotated[str, Path(alias="id")]
