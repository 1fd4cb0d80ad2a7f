"""What a run leaves behind, NumPy alone. Imports text, families and the rooms below them."""
