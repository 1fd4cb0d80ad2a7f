"""The glossary: every term that the pages explain, in one place."""
