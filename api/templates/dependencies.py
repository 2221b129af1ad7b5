"""Dependencies of the template routes."""

from typing import Annotated

from fastapi import Path

from api.http.services import service
from api.templates.plugin import TemplateSlice

BASE = "/srmain/msgapp_templates"
PLATFORM_ERRORS = (429, 503)  # of requests that the messaging platform has to answer


Slice = Annotated[TemplateSlice, service("templates")]
TemplateId = Annotated[str, Path(alias="id")]
