"""The result of a run, NumPy alone. Imports text, families and the rooms below them."""
