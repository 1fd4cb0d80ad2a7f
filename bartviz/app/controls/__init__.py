"""Pickers, tables, downloads and progress that several views share. Imports state."""
