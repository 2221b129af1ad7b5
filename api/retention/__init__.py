"""How long personal data is kept, and its removal."""
