"""What the browser draws and answers: canvas, player, ribbons, formulas, as scripts with their Python side."""
