"""Commands on parts of a live call: transfers, conferences and streams."""
