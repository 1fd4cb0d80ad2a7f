"""Arrays and records -> plotly figures, one function per feature word; neither torch nor streamlit is imported here."""

from bartviz.figures.ablation import ablation
from bartviz.figures.alignment import alignment
from bartviz.figures.beams import beams
from bartviz.figures.branches import branches
from bartviz.figures.classic import classic
from bartviz.figures.compare import compare
from bartviz.figures.decoding import decoding
from bartviz.figures.denoising import denoising
from bartviz.figures.edits import edits
from bartviz.figures.flow import contribution, rollout
from bartviz.figures.heads import heads
from bartviz.figures.inputs import inputs
from bartviz.figures.inside import inside
from bartviz.figures.masks import masks
from bartviz.figures.models import models
from bartviz.figures.parameters import parameters
from bartviz.figures.ribbons import ribbons

__all__ = [
    "ablation",
    "alignment",
    "beams",
    "branches",
    "classic",
    "compare",
    "contribution",
    "decoding",
    "denoising",
    "edits",
    "heads",
    "inputs",
    "inside",
    "masks",
    "models",
    "parameters",
    "ribbons",
    "rollout",
]
