"""Explanations: lessons, quiz, glossary, the articles' claims. No Streamlit. Imports analysis and below."""
