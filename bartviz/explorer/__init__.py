"""The explorer: the canvas and the player of saved records in one HTML file, which needs no server and no network.

``data`` is what the file holds, ``file`` how it is written. Neither needs Streamlit or torch.
"""
