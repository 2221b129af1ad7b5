"""`switchroom convert twiml`: from a TwiML document to a tree of verbs."""
