"""`/srmain/msgapp_templates`: templates; each account sees its own (spec, "Msgapp templates")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec.json import encode

from api.auth.dependencies import AuthenticatedUser
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.responses import once, told
from api.numbers.schemas import DeletedNumber
from api.templates import examples
from api.templates.dependencies import BASE, READ_ERRORS, Slice, TemplateId
from api.templates.schemas import (
    NewTemplate,
    TemplateChange,
    TemplateListQuery,
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
        statuses=(*READ_ERRORS, 409),
        example=examples.NEW,
    ),
)
async def create_template(
    request: Request,
    who: AuthenticatedUser,
    parts: Slice,
    asked: Annotated[NewTemplate, Depends(reading(NewTemplate))],
    key: IdempotencyKey = None,
) -> Response:
    """Check a template, have the messaging platform make it, and keep what it says."""

    async def deed(_request_id: str) -> bytes:
        return encode(await parts.templates.create(who.account_id, asked))

    return told(await once(request, who, key, deed), 201)


@router.get(BASE, **described("List templates", answered=TemplatePage, statuses=(401,)))
async def list_templates(
    who: AuthenticatedUser, asked: Annotated[TemplateListQuery, Query()], parts: Slice
) -> Response:
    """Give a page of templates, newest first."""
    return answer(await parts.templates.list(who.account_id, asked))


@router.get(
    f"{BASE}/{{id}}",
    **described("Show a template", answered=TemplateView, statuses=(401, 404)),
)
async def get_template(template_id: TemplateId, who: AuthenticatedUser, parts: Slice) -> Response:
    """Show a template as it is kept."""
    return answer(await parts.templates.get(who.account_id, template_id))


@router.patch(
    f"{BASE}/{{id}}",
    **described(
        "Change a template",
        asked=TemplateChange,
        answered=TemplateView,
        statuses=(*READ_ERRORS, 404, 409),
        example=examples.CHANGE,
    ),
)
async def change_template(
    template_id: TemplateId,
    who: AuthenticatedUser,
    parts: Slice,
    asked: Annotated[TemplateChange, Depends(reading(TemplateChange))],
) -> Response:
    """Change a template here, and on the messaging platform where its content changes."""
    return answer(await parts.templates.change(who.account_id, template_id, asked))


@router.delete(
    f"{BASE}/{{id}}",
    **described("Take a template away", answered=DeletedNumber, statuses=(*READ_ERRORS, 404)),
)
async def remove_template(
    template_id: TemplateId, who: AuthenticatedUser, parts: Slice
) -> Response:
    """Take a template away, here and on the messaging platform, in its one language."""
    return answer(await parts.templates.remove(who.account_id, template_id))
