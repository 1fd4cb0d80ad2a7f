"""Browser components: canvas, player, ribbons and formulas, each as scripts with a Python side."""
