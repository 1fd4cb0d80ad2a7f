"""What is typed in a terminal. Imports everything."""
