"""Lines about the classes of transformers: those that it has, asked by name."""

from __future__ import annotations

import numpy as np
import transformers

from bartviz.analysis.article_models import BART, BERT, T5, TITLES, depth, encoder, sizes_of
from bartviz.families.matrices import SENTENCEPIECE
from bartviz.features.textbook.judging import CONFIGURATION, WORDS_RECORD, Evidence, Number, Verdict, above, yes
from bartviz.features.textbook.networks import Cancel
from bartviz.language import later
from bartviz.models.model import Model

ENDINGS = (
    "ForConditionalGeneration",
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForMultipleChoice",
    "ForMaskedLM",
    "ForCausalLM",
    "LMHeadModel",
)


def classes(prefix: str) -> dict[str, bool]:
    """The classes of transformers with a head for a task, such as T5ForQuestionAnswering, and whether they write."""
    names = [prefix + ending for ending in ENDINGS if hasattr(transformers, prefix + ending)]
    return {name: bool(getattr(transformers, name).can_generate()) for name in names}


def as_wide_as_gpt(_model: Model, _cancelled: Cancel) -> Verdict:
    gpt = transformers.OpenAIGPTConfig()
    bert = sizes_of(BERT)
    numbers = (
        Number(later("{model}: width", model=TITLES[BERT]), gpt.n_embd, bert.width),
        Number(later("{model}: encoder layers", model=TITLES[BERT]), gpt.n_layer, depth(BERT)[0], core=False),
        Number(later("{model}: heads", model=TITLES[BERT]), gpt.n_head, encoder(BERT).heads, core=False),
    )
    why = later(
        "Both are {width} wide, and GPT-1 has {layers} layers of {heads} heads, too.",
        width=gpt.n_embd,
        layers=gpt.n_layer,
        heads=gpt.n_head,
    )
    return Verdict(numbers, why, later("transformers' defaults for GPT-1; {second}", second=later(CONFIGURATION)))


def text_to_text(_model: Model, _cancelled: Cancel) -> Verdict:
    bart, t5 = sizes_of(BART).family.training, sizes_of(T5).family.training
    found = {name: classes(name) for name in ("T5", "Bart")}
    other = {name: [one for one, writes in found[name].items() if not writes] for name in found}
    numbers = (
        Number(later("T5: classes of transformers that answer by writing"), 1, sum(found["T5"].values())),
        Number(later("T5: a prefix names the task"), yes(True), yes(t5.prefix is not None)),
        Number(later("BART: a prefix names the task"), yes(False), yes(bart.prefix is not None)),
        Number(later("T5: tokenizer"), SENTENCEPIECE, t5.tokenizer),
        Number(later("T5: classes of transformers that answer in another way"), 0, len(other["T5"]), core=False),
    )
    why = later(
        "As T5 was trained, one class writes the answer to every task, after a prefix such as “{prefix}”. "
        "transformers has {t5} more classes for T5 that answer in another way, {names}, as it has {bart} for "
        "BART.",
        prefix=(t5.prefix or "–").rpartition(" ")[0],
        t5=len(other["T5"]),
        names=", ".join(other["T5"]),
        bart=len(other["Bart"]),
    )
    return Verdict(numbers, why, later("the classes of transformers; the facts about the two families"))


def no_writer(_model: Model, _cancelled: Cancel) -> Verdict:
    record, basis = Evidence().shipped(WORDS_RECORD)
    mask = record.attention("encoder").mask
    ahead = int(np.triu(mask, 1).sum())
    writing = [name for name, writes in classes("Bert").items() if writes]
    numbers = (
        Number(later("decoder layers of BERT"), 0, depth(BERT)[1]),
        Number(later("cells of its mask that look ahead, of {n} tokens", n=len(mask)), above(0), ahead),
        Number(later("classes of transformers that write with BERT's layers, under another mask"), 0, len(writing),
               core=False),
    )  # fmt: skip
    why = later(
        "Every row sees the tokens after it ({ahead} cells above the diagonal), so one that is asked for the next "
        "token would see the answer. With a causal mask the same layers can write ({names}), but that is another "
        "network, which has to be trained for it.",
        ahead=ahead,
        names=", ".join(writing),
    )
    return Verdict(numbers, why, later("the classes of transformers; {second}", second=basis))
