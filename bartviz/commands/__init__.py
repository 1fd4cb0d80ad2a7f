"""The command line. Imports everything."""
