"""Numbers that an account's business has on the messaging platform (spec, "Msgapp numbers")."""
