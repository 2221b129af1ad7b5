"""Callers who talk to bots or listen to prompts, and what each of them notices."""
