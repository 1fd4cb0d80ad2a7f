"""Targets of mutation tests: valid files, how each is corrupted, and what is then done with it."""

from __future__ import annotations

import json
import re
import resource
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import bartviz
from bartviz.analysis import gold_alignment
from bartviz.corpus import read
from bartviz.errors import BartvizError
from bartviz.families import config as configs
from bartviz.families.catalogue import CATALOGUE, EMBEDDED
from bartviz.reading import uploads
from bartviz.record import store
from bartviz.record.record import Record
from tests.fuzz import mutations, tokenizers
from tests.fuzz.use import use

GB = 1 << 30
LONG = 3  # seconds of processor time that make a case slow
LONG_TEXT = 100  # characters; shorter texts are compared with transformers' reading
RUN = 0.05  # the share of tokenizers whose model is run, too


class Target(ABC):
    """One kind of input. ``prepare`` makes what all cases share; ``attack`` spoils, opens and uses one.

    ``attack`` raises BartvizError where the input is refused; whatever else it raises is an escape. Chance comes from
    ``random`` alone.
    """

    memory: ClassVar[int] = 4 * GB
    """Bytes of address space."""

    def __init__(self, folder: Path, uses: int) -> None:
        self.folder = folder
        self.uses = uses
        self.prepare()

    @abstractmethod
    def prepare(self) -> None: ...

    @abstractmethod
    def attack(self, random: Random) -> None: ...


class Records(Target):
    """Saved records: their description, their arrays, their bytes."""

    def prepare(self) -> None:
        from tests.support import records, stand_in, trees

        made = [
            stand_in.record(),
            records.encoder_only(),
            records.decoder_only(),
            records.encoder_decoder(padding=2),
            trees.record(),
            stand_in.record(kind="decoder"),
        ]
        self.files = [store.encode(record) for record in made]
        self.files += [file.read_bytes() for file in sorted((EMBEDDED / "records").glob("*.safetensors"))]

    def attack(self, random: Random) -> None:
        file = self.folder / "record.safetensors"
        file.write_bytes(self.spoilt(random, random.choice(self.files)))
        record = bartviz.open(file, allow_unsound=random.random() < 0.9)
        use(record, random, self.folder, self.uses)

    @staticmethod
    def spoilt(random: Random, data: bytes) -> bytes:
        if random.random() < 0.5:
            return mutations.tensors(random, data)
        header, rest = mutations.head(data)
        value = json.loads(header["__metadata__"]["bartviz"])
        for _ in range(mutations.often(random)):
            value["value"] = mutations.tree(random, value["value"])
        header["__metadata__"]["bartviz"] = mutations.written(random, value)
        return mutations.headed(json.dumps(header), rest)


class Models(Target):
    """A model's folder in which one thing is spoilt: it is loaded, and where that goes well, run."""

    memory = 8 * GB
    families: ClassVar[tuple[str, ...]] = (
        "bert",
        "roberta",
        "distilbert",
        "electra",
        "albert",
        "bart",
        "mbart",
        "marian",
        "pegasus",
        "t5",
        "gpt2",
    )

    def prepare(self) -> None:
        import torch

        from tests.support import networks

        torch.set_num_threads(1)
        self.folders: dict[str, Path] = {}
        for family in self.families:
            self.folders[family] = networks.save(family, self.folder / "good" / family, trained=True)
        for family in ("bert", "bart"):
            name = f"{family}-int8"
            self.folders[name] = networks.save(family, self.folder / "good" / name, trained=True, int8=True)

    def attack(self, random: Random) -> None:
        good = self.folders[random.choice(sorted(self.folders))]
        place = self.folder / "spoilt"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in good.iterdir():
            (place / file.name).symlink_to(file)
        name = self.spoil(random, place)
        try:
            self.run(random, bartviz.load(place, budget=GB, deadline=60))
        except BartvizError:
            if name == "config.json":
                bartviz.parameters(place)
            raise

    def spoil(self, random: Random, place: Path) -> str:
        """Change one file of the folder in its place; gives its name."""
        names = [name for name in self.named() if (place / name).exists()]
        name = random.choice(names) if names else "config.json"
        file = place / name
        content = file.read_bytes()
        file.unlink()
        if random.random() < 0.03:
            return name
        file.write_bytes(self.changed(random, name, content))
        return name

    def named(self) -> tuple[str, ...]:
        return ("config.json", "config.json", "generation_config.json")

    def changed(self, random: Random, name: str, content: bytes) -> bytes:
        del name
        return mutations.document(random, content)

    def run(self, random: Random, model: Any) -> None:
        """Any error of ours will do: the text may be too long for what the configuration says."""
        text = random.choice(("I want to buy a car.", "</s> <mask> [MASK]", "👩‍👩‍👧 한국어 e\u0301", " ", "a" * 300))
        try:
            record = bartviz.capture(model, text, values=random.random() < 0.5)
        except BartvizError:
            return
        use(record, random, self.folder, self.uses // 2)


class Configurations(Models):
    """config.json and generation_config.json."""


class Tokenizers(Models):
    """The files that a tokenizer is made from; some are read as they are, not as the family's own class makes them."""

    def spoil(self, random: Random, place: Path) -> str:
        name = super().spoil(random, place)
        settings = place / "tokenizer_config.json"
        if name == "tokenizer.json" and random.random() < 0.5 and settings.exists():
            content = json.loads(settings.read_bytes()) | {"tokenizer_class": "TokenizersBackend"}
            settings.unlink()
            settings.write_text(json.dumps(content))
        return name

    def named(self) -> tuple[str, ...]:
        from bartviz.models.files import TOKENIZER_FILES

        return TOKENIZER_FILES

    def changed(self, random: Random, name: str, content: bytes) -> bytes:
        return mutations.document(random, content) if name.endswith(".json") else mutations.bent(random, content)


class Parts(Target):
    """Tokenizers made of valid parts: read, compared with transformers' own, and now and then run.

    A case whose tokenizer takes two seconds or half a gigabyte has escaped.
    """

    memory = 8 * GB
    seconds: ClassVar[float] = 2.0
    growth: ClassVar[int] = 500 << 10  # kB

    def prepare(self) -> None:
        import base64

        import torch

        from bartviz.models import checkpoint
        from bartviz.models.files import Files
        from tests.support import networks, small_tokenizers

        torch.set_num_threads(1)
        kinds = ("bart", "bert", "gpt2", "t5")
        self.good = [networks.save(kind, self.folder / "good" / kind, vocab_size=600, trained=True) for kind in kinds]
        self.settings = {good: checkpoint.read(Files.of(good)) for good in self.good}
        state = json.loads(small_tokenizers.tokenizer("t5_model").backend_tokenizer.to_str())["normalizer"]
        found = re.search('"precompiled_charsmap": "([^"]+)"', json.dumps(state))
        assert found is not None
        self.charsmap = base64.b64decode(found[1])

    def attack(self, random: Random) -> None:
        good, place = random.choice(self.good), self.folder / "made"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in ("config.json", "model.safetensors"):
            (place / name).symlink_to(good / name)
        tokenizers.write(place, random, self.charsmap)
        before, start = _peak(), time.process_time()
        try:
            self.read(random, place, good)
        finally:
            spent, grown = time.process_time() - start, _peak() - before
            if spent > self.seconds or grown > self.growth:
                raise AssertionError(f"{spent:.1f} s, {grown >> 10} MB")
        if random.random() < RUN:  # a whole run takes seconds by itself
            try:
                record = bartviz.capture(bartviz.load(place), tokenizers.TEXTS[0])
            except BartvizError:
                return
            use(record, random, self.folder, self.uses // 4)

    def read(self, random: Random, place: Path, good: Path) -> None:
        from bartviz.models import tokenizer
        from bartviz.models.files import Files
        from bartviz.run.prepare import unread
        from bartviz.text import tokenize

        words = tokenizer.read(Files.of(place), self.settings[good])
        for text in random.sample(tokenizers.TEXTS, 4):
            try:
                tokens = tokenize.encode(words.tokenizer, text, allow_special=True)
                unread(tokens, words.tokenizer, text)
            except BartvizError:
                continue
            if len(text) < LONG_TEXT:
                self.compare(place, words, text, tokens.ids.tolist())

    def compare(self, place: Path, words: Any, text: str, ids: list[int]) -> None:
        """Raise AssertionError unless transformers reads the same ids."""
        from transformers import AutoTokenizer

        theirs = AutoTokenizer.from_pretrained(place)
        if any("dropout" in notice for notice in words.notices):
            return
        expected = theirs(text)["input_ids"]
        if ids != expected:
            raise AssertionError(f"transformers reads {str(expected)[:60]}, not {str(ids)[:60]}")


def _peak() -> int:
    """The most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Weights(Models):
    """model.safetensors."""

    def named(self) -> tuple[str, ...]:
        return ("model.safetensors",)

    def changed(self, random: Random, name: str, content: bytes) -> bytes:
        return mutations.tensors(random, content)


class AnyFile(Models):
    """Any file of a model: the three above in one process."""

    def named(self) -> tuple[str, ...]:
        from bartviz.models.files import TOKENIZER_FILES

        return ("config.json", *TOKENIZER_FILES, *("model.safetensors",) * 3)

    def changed(self, random: Random, name: str, content: bytes) -> bytes:
        if name.endswith(".json"):
            return mutations.document(random, content)
        return (mutations.tensors if name.endswith(".safetensors") else mutations.bent)(random, content)


class Uploads(Target):
    """What visitors upload or paste: texts, tables, configurations, alignments, records."""

    def prepare(self) -> None:
        rows = [{"text": "I want to buy a car."}, {"text": "한국어 文 👩‍👩‍👧"}, {"source": "=1+1"}]
        self.texts: Mapping[str, bytes] = {
            "a.txt": "I want to buy a car.\r\nTwo lines, ein Café.".encode(),
            "b.md": "# Title\n\ntext with <b>tags</b> \u2028 and\u0085 more".encode("utf-16"),
            "c.csv": 'id,text,n\n1,"a ""quoted"" word",2\n2,plain,3\n'.encode("utf-8-sig"),
            "d.tsv": b"id\ttext\n1\tone\n2\ttwo\n",
            "e.jsonl": "\n".join(json.dumps(row) for row in rows).encode(),
            "f.csv": "größe;satz\n1;früh\n".encode("latin-1"),
            "g.tsv": b'text\tde\n"Yes," he said.\t"Ja\n"two\nlines"\tzwei\n',
            "h.json": json.dumps({"version": 1, "data": rows}, indent=1).encode(),
            "i.jsonl": json.dumps(rows, indent=2).encode("utf-16"),
        }
        self.trees = b"# text = Im Haus\n1-2\tIm\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=Yes\n" + b"".join(
            f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\tSpacesAfter=\\s\n".encode()
            for number, form, head in ((1, "in", 3), (2, "dem", 3), (3, "Haus", 0))
        )
        self.configs = [json.dumps(dict(entry.config)) for entry in CATALOGUE]

    def attack(self, random: Random) -> None:
        random.choice(
            (self.text, self.text, self.corpus, self.configuration, self.configuration, self.gold, self.record)
        )(random)

    def text(self, random: Random) -> None:
        import gzip

        name, data = random.choice(sorted(self.texts.items()))
        for _ in range(mutations.often(random)):
            data = mutations.bent(random, data)
        if random.random() < 0.2:
            data, name = gzip.compress(data), f"{name}.gz"
            data = mutations.bent(random, data) if random.random() < 0.7 else data
        if random.random() < 0.1:
            name = random.choice(("", ".", "..", "a", "a\0.txt", "\ud800.txt", "x" * 500 + ".csv", "a.TXT", "../a.csv"))
        encoding = random.choice((None, None, None, "utf-8", "latin-1", "utf-16", "cp1252", "euc-kr", "no such"))
        found = uploads.read_upload(name, data, encoding=encoding)
        assert all(text.encode() for text in found.texts)
        found.name.encode()

    def corpus(self, random: Random) -> None:
        held = {**self.texts, "j.conllu": self.trees + b"\n" + self.trees}
        name, data = random.choice(sorted(held.items()))
        for _ in range(mutations.often(random)):
            data = mutations.bent(random, data)
        path = self.folder / name
        path.write_bytes(data)
        header, quotes = (random.choice((None, None, True, False)) for _ in range(2))
        form = read.Form(header, quotes)
        columns = read.Columns(random.choice((None, None, "text", "1", "text.0")))
        for row in read.lines(path, columns, form, paragraphs=random.random() < 0.3):
            assert (row.text if isinstance(row, read.Line) else row.reason).encode()

    def configuration(self, random: Random) -> None:
        data = mutations.document(random, random.choice(self.configs).encode())
        config = configs.parse(data.decode("utf-8", "replace"))
        bartviz.parameters(config).to_json()

    def gold(self, random: Random) -> None:
        line = random.choice(("0-0 1-1 2?2 3p3", "1 0 0 S\n1 1 1 P 0.5", "0-0/P 1:1 2-3:S"))
        said = mutations.bent(random, (line * random.choice((1, 1, 50))).encode()).decode("utf-8", "surrogateescape")
        found = gold_alignment.read(said, random.choice((0, 1, 5, 999)), 5, base=random.choice((0, 1)))
        gold_alignment.write(found.sure, found.possible)

    def record(self, random: Random) -> None:
        store.decode(random.randbytes(random.choice((0, 7, 8, 9, 500))), Record)


class Atlases(Target):
    """An atlas in which one file is corrupted: opened, compared, searched, drawn."""

    def prepare(self) -> None:
        from tests.fuzz import corpora

        self.good = corpora.made(self.folder)
        self.atlas = bartviz.open_atlas(self.good)

    def attack(self, random: Random) -> None:
        from tests.fuzz import corpora

        place = corpora.copied(self.good, self.folder / "spoilt")
        corpora.spoil_atlas(random, place)
        corpora.use_atlas(random, place, self.atlas)


class Shards(Target):
    """The folder of a run in which a shard or the manifest is corrupted: resumed and added up."""

    def prepare(self) -> None:
        from tests.fuzz import corpora

        self.good = corpora.made(self.folder)
        self.manifest = json.loads((self.good / "run.json").read_bytes())

    def attack(self, random: Random) -> None:
        from tests.fuzz import corpora

        place = corpora.copied(self.good, self.folder / "spoilt")
        corpora.spoil_shards(random, place)
        corpora.use_shards(place, self.folder / "texts.txt", self.manifest, 0.3)


class Addresses(Target):
    """The query of a page's address: every key that a page has, with words that it does not know."""

    memory = 8 * GB

    def prepare(self) -> None:
        from tests.fuzz.addresses import Visits

        self.visits = Visits()

    def attack(self, random: Random) -> None:
        self.visits.visit(random)


TARGETS: Mapping[str, type[Target]] = {
    "records": Records,
    "configurations": Configurations,
    "tokenizers": Tokenizers,
    "parts": Parts,
    "weights": Weights,
    "uploads": Uploads,
    "atlases": Atlases,
    "shards": Shards,
    "addresses": Addresses,
    "models": AnyFile,
}
