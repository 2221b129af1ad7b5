"""Numbers of an account's business on the messaging platform (spec, "Msgapp numbers")."""
