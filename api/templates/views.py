"""Builds the views of templates."""

from api.common.projection import project
from api.common.timestamps import format_ms
from api.templates.schemas import TemplateView
from api.templates.store import Template


def template_view(template: Template) -> TemplateView:
    """Return a template's view, with the texts of its components as separate fields."""
    texts = {
        str(each.get("type", "")).upper(): each.get("text")
        for each in template.components
        if isinstance(each.get("text"), str)
    }
    return project(
        TemplateView,
        template,
        header_text=texts.get("HEADER"),
        body_text=texts.get("BODY"),
        footer_text=texts.get("FOOTER"),
        created_at=format_ms(template.created_ms),
        updated_at=format_ms(template.updated_ms),
    )
