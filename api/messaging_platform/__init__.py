"""A client of the messaging platform's cloud API: templates, header media, test messages."""
