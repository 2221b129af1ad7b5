"""Builds the views of templates."""

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
    return TemplateView(
        id=template.id,
        name=template.name,
        language=template.language,
        category=template.category,
        sub_category=template.sub_category,
        phone_number_id=template.phone_number_id,
        parameter_format=template.parameter_format,
        platform_template_id=template.platform_template_id,
        is_primary_device_delivery_only=template.is_primary_device_delivery_only,
        components=template.components,
        header_text=texts.get("HEADER"),
        body_text=texts.get("BODY"),
        footer_text=texts.get("FOOTER"),
        status=template.status,
        status_reason=template.status_reason,
        created_at=format_ms(template.created_ms),
        updated_at=format_ms(template.updated_ms),
    )
