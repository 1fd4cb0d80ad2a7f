# The public names, each with the module that defines it: the only list of them. Type checkers and editors read it, and
# so does __init__.py.

from bartviz import errors as errors
from bartviz import figures as figures
from bartviz.analysis.attribution import open_attribution as open_attribution
from bartviz.analysis.numbers import contributions as contributions
from bartviz.analysis.numbers import measures as measures
from bartviz.analysis.numbers import rollout as rollout
from bartviz.analysis.parameters import parameters as parameters
from bartviz.analysis.pattern_masks import pattern_mask as pattern_mask
from bartviz.attribution.attribute import attribute as attribute
from bartviz.attribution.faithfulness import faithfulness as faithfulness
from bartviz.attribution.lens import lens as lens
from bartviz.attribution.patching import patch as patch
from bartviz.corpus.atlas import Atlas as Atlas
from bartviz.corpus.atlas import open_atlas as open_atlas
from bartviz.corpus.find_heads import FoundHeads as FoundHeads
from bartviz.corpus.find_heads import find_heads as find_heads
from bartviz.corpus.run import corpus as corpus
from bartviz.corpus.run_series import series as series
from bartviz.corpus.series import Series as Series
from bartviz.corpus.series import open_series as open_series
from bartviz.corpus.verify_heads import verify_heads as verify_heads
from bartviz.drawing import paper as paper
from bartviz.experiments.ablation import ablate as ablate
from bartviz.experiments.ablation import ablate_sweep as ablate_sweep
from bartviz.experiments.edits import edit as edit
from bartviz.experiments.edits import reach as reach
from bartviz.experiments.verify import verify as verify
from bartviz.explorer.file import save as save
from bartviz.explorer.widget import explore as explore
from bartviz.models.load import load as load
from bartviz.models.model import Model as Model
from bartviz.models.wrap import wrap as wrap
from bartviz.record.attention import Head as Head
from bartviz.record.given_weights import from_attentions as from_attentions
from bartviz.record.record import Record as Record
from bartviz.record.record import open_record as _open
from bartviz.run.branches import branch as branch
from bartviz.run.forward import capture as capture
from bartviz.run.forward import capture_batch as capture_batch
from bartviz.run.generate import decode as decode
from bartviz.run.generate import decode_batch as decode_batch
from bartviz.run.sampling import Sampling as Sampling
from bartviz.version import __version__ as __version__

open = _open  # noqa: A001
