"""A name to a checked network: found, downloaded, read, built. Imports tape, record, text and families."""
