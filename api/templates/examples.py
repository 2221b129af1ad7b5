"""Examples of the OpenAPI document: a template for a shipping notice."""

NEW = {
    "name": "order_sent",
    "language": "en_US",
    "category": "UTILITY",
    "phoneNumberId": "106540352242922",
    "components": [
        {
            "type": "BODY",
            "text": "Hello {{1}}, your order {{2}} is on its way.",
            "example": {"body_text": [["Ada", "4711"]]},
        },
        {"type": "FOOTER", "text": "Example Shop"},
        {
            "type": "BUTTONS",
            "buttons": [
                {
                    "type": "URL",
                    "text": "Where is it?",
                    "url": "https://example.com/orders/{{1}}",
                    "example": ["4711"],
                }
            ],
        },
    ],
}
CHANGE = {"footerText": "Example Shop, Oslo"}
TEST = {
    "templateId": "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "phoneNumber": "+4722222222",
    "variableValues": {"1": "Ada", "2": "4711", "buttons.0.1": "4711"},
}
NOTIFICATION = {
    "object": "business_account",
    "entry": [
        {
            "id": "102290129340398",
            "time": 1751247548,
            "changes": [
                {
                    "field": "message_template_status_update",
                    "value": {
                        "event": "APPROVED",
                        "message_template_id": 1689556908129832,
                        "message_template_name": "order_sent",
                        "message_template_language": "en-US",
                        "reason": "NONE",
                    },
                }
            ],
        }
    ],
}
