"""Files of a visitor to rows and texts: their encoding, tables, JSON. Imports text, language and errors."""
