"""The messaging platform's cloud API, as a client: templates, header media, test messages."""
