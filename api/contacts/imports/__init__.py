"""Files of contacts: upload, mapping, processing."""
