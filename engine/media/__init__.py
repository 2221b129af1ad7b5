"""What a leg hears: fetched or spoken, transcoded to 8 kHz, kept, and served to the PBX."""
