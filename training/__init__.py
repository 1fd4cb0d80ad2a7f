"""How the models of bartviz/embedded were made: corpus in, folder with weights, tokenizer and card out.

Nothing of this is imported by the package. One command makes one model:

    python -m training.denoise   --corpus FOLDER --out FOLDER
    python -m training.translate --corpus FOLDER --out FOLDER --start FOLDER_OF_DENOISE
    python -m training.bert      --corpus FOLDER --out FOLDER
    python -m training.evaluate  --corpus FOLDER

What the translator is trained on is drawn by `mix`: rows of the corpus with names, numbers and spellings exchanged
(`substitute`), rows of a grammar of our own (`grammar`, `slots`, `clauses`), texts of two sentences. The lists that
rows are built from are in `training/data`.
"""
