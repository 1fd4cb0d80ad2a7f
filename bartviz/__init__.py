"""See, step through and test attention in BERT, BART and their relatives."""
