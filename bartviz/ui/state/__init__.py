"""What a session and its address hold, and what is made once. Imports serving and below."""
