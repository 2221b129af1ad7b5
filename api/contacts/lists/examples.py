"""Examples for the document."""

import json

UPLOAD = {
    "file": "Phone,First name,City\r\n+4722222222,Nina,Oslo\r\n",
    "data": json.dumps({"name": "Spring", "description": "Who asked for a call", "isActive": True}),
}
CHANGE = {"data": json.dumps({"name": "Spring, again", "status": "MAPPING_DONE"})}
MAPPINGS = {"mappings": {"Phone": "phoneNumber", "First name": "fName"}}
INBOUND = {
    "name": "Callers",
    "description": "Who called us",
    "assignedFields": ["city"],
}
