"""Text to tokens: cleaned, encoded, labelled for a reader. Imports safety, language and errors."""
