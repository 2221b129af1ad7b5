"""Codes of contact files, exports and downloads."""

from wire.error_codes.error_code import CodeGroup, ErrorCode, Place

_REST = (Place.REST,)

CONTACTS = CodeGroup(
    "Contacts and exports",
    (
        ErrorCode(
            "no_file",
            "List has no file",
            "The list has no uploaded file.",
            "The file was not uploaded yet, or was deleted.",
            "Upload one first.",
            (409,),
            _REST,
        ),
        ErrorCode(
            "not_mapped",
            "Columns not mapped",
            "The columns of the file are not mapped to fields.",
            "`map-fields` was left out.",
            "Map the columns, then process the file.",
            (409,),
            _REST,
        ),
        ErrorCode(
            "processing",
            "Being processed",
            "The file of the list is being processed.",
            "An import has not ended.",
            "Wait for its end; the list shows the progress.",
            (409,),
            _REST,
        ),
        ErrorCode(
            "export_not_done",
            "Export not ready",
            "The export of call records is not written yet, or has failed.",
            "`detail` has its state.",
            "Wait until it is `done`.",
            (409,),
            _REST,
        ),
        ErrorCode(
            "download_not_done",
            "Download not ready",
            "The file is not written yet, or has failed.",
            "`detail` has its state.",
            "Wait until it is `done`.",
            (409,),
            _REST,
        ),
        ErrorCode(
            "no_email",
            "No e-mail address",
            "The account has no e-mail address, so nothing can be sent to it.",
            "None was set.",
            "Operator: `switchroom account email ACCOUNT ADDRESS`.",
            (409,),
            _REST,
        ),
        ErrorCode(
            "no_mail_server",
            "No mail server",
            "The REST layer has no mail server.",
            "`SWITCHROOM_SMTP_HOST` is not set.",
            "Download the file instead. Operator: set a mail server.",
            (503,),
            _REST,
        ),
    ),
)
