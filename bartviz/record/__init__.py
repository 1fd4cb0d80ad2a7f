"""What a run leaves behind, NumPy alone. Imports text, families and what lies below them."""
