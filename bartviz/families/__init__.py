"""What is known of each architecture, without torch. Imports language and errors."""
