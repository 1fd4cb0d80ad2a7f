"""A folder for each page: its parts. Imports everything else of ui."""
