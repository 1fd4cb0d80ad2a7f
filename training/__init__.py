"""How the models of bartviz/embedded were made: corpus in, folder with weights, tokenizer and card out.

Nothing of this is imported by the package. One command makes one model:

    python -m training.denoise   --corpus FOLDER --out FOLDER
    python -m training.translate --corpus FOLDER --out FOLDER --start FOLDER_OF_DENOISE
    python -m training.bert      --corpus FOLDER --out FOLDER
    python -m training.evaluate  --corpus FOLDER
"""
