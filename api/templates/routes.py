"""`/srmain/msgapp_templates`: templates; each account sees its own (spec, "Msgapp templates")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec.json import encode

from api.auth.routes import Authenticated
from api.http.idempotency import Key
from api.http.msgspec_adapter import answer, described, reading
from api.http.responses import once, told
from api.numbers.schemas import Removed
from api.templates import examples
from api.templates.dependencies import ASKS, BASE, Slice, TemplateId
from api.templates.schemas import (
    Listing,
    NewTemplate,
    TemplateChange,
    TemplatePage,
    TemplateView,
)

router = APIRouter(tags=["Message templates"])


@router.post(
    BASE,
    **described(
        "Make a template",
        asked=NewTemplate,
        answered=TemplateView,
        status=201,
        statuses=(*ASKS, 409),
        example=examples.NEW,
    ),
)
async def create_template(
    request: Request,
    who: Authenticated,
    parts: Slice,
    asked: Annotated[NewTemplate, Depends(reading(NewTemplate))],
    key: Key = None,
) -> Response:
    """Check a template, have the messaging platform make it, and keep what it says."""

    async def deed(_request_id: str) -> bytes:
        return encode(await parts.templates.create(who.account_id, asked))

    return told(await once(request, who, key, deed), 201)


@router.get(BASE, **described("List templates", answered=TemplatePage, statuses=(401,)))
async def list_templates(
    who: Authenticated, asked: Annotated[Listing, Query()], parts: Slice
) -> Response:
    """Give a page of templates, newest first."""
    return answer(await parts.templates.list(who.account_id, asked))


@router.get(
    f"{BASE}/{{id}}",
    **described("Show a template", answered=TemplateView, statuses=(401, 404)),
)
async def get_template(template_id: TemplateId, who: Authenticated, parts: Slice) -> Response:
    """Show a template as it is kept."""
    return answer(await parts.templates.get(who.account_id, template_id))


@router.patch(
    f"{BASE}/{{id}}",
    **described(
        "Change a template",
        asked=TemplateChange,
        answered=TemplateView,
        statuses=(*ASKS, 404, 409),
        example=examples.CHANGE,
    ),
)
async def change_template(
    template_id: TemplateId,
    who: Authenticated,
    parts: Slice,
    asked: Annotated[TemplateChange, Depends(reading(TemplateChange))],
) -> Response:
    """Change a template here, and on the messaging platform where its content changes."""
    return answer(await parts.templates.change(who.account_id, template_id, asked))


@router.delete(
    f"{BASE}/{{id}}",
    **described("Take a template away", answered=Removed, statuses=(*ASKS, 404)),
)
async def remove_template(template_id: TemplateId, who: Authenticated, parts: Slice) -> Response:
    """Take a template away, here and on the messaging platform, in its one language."""
    return answer(await parts.templates.remove(who.account_id, template_id))
