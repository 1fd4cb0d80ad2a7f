"""What is explained: lessons, quiz, glossary, the articles' claims. No Streamlit. Imports analysis and below."""
