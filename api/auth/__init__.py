"""Who is asking: API keys, access tokens, and the principal that both stand for."""
