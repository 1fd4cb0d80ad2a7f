"""An atlas as one file: its folder in a zip archive, which the app offers for download and opens again.

The file may come from anybody: what it says about its sizes is checked before anything is unpacked.
"""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from bartviz.corpus import schema, text_values
from bartviz.corpus.atlas import DESCRIPTION, Atlas, described, packed
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.safety.other_libraries import guarded

ENDING = ".zip"
LARGEST = 64 << 20  # bytes of what is in it


def pack(atlas: Atlas) -> bytes:
    """The bytes of the file. Parquet is compressed, so the archive is not. The values of each text are left out where
    the file would be too large to open."""
    description, tables = packed(atlas)
    if text_values.NAME in description["files"]:
        if sum(map(len, tables.values())) + atlas.kept_size() <= LARGEST:
            tables |= {text_values.NAME: atlas.kept_bytes()}
        else:
            description = schema.sealed(atlas.description, tables)
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, data in tables.items():
            archive.writestr(f"{name}.parquet", data)
        archive.writestr(DESCRIPTION, json.dumps(description, indent=1))
    return file.getvalue()


def unpack(data: bytes, name: str) -> Atlas:
    """The atlas in the bytes of a file, also of a folder that was packed by hand; ``name`` is for messages.

    Raises SettingError, which says what is wrong with it.
    """
    files = _unpacked(data, name)
    if DESCRIPTION not in files:
        raise SettingError(
            later(
                "There is no atlas in {name}: it would have a file {file}. Unpack it, and open one of its texts.",
                name=name,
                file=DESCRIPTION,
            )
        )
    description = described(files[DESCRIPTION], name)
    held, kept = {}, None
    for table, digest in description["files"].items():
        file = f"{table}.parquet"
        if table not in (*schema.TABLES, text_values.NAME):
            continue
        if schema.digest(files.get(file, b"")) != digest:
            raise SettingError(
                later(
                    "{file} of the atlas {name} is missing, or was changed after it was created.", file=file, name=name
                )
            )
        if table == text_values.NAME:
            kept = files[file]
            continue
        held[table] = schema.read(table, files[file], file, name, schema.own_bins(description))
    atlas = Atlas(Path(name), description, held, kept)
    atlas.check()
    return atlas


def _unpacked(data: bytes, name: str) -> dict[str, bytes]:
    """The files of an atlas in an archive, by their names without folders."""
    unread = SettingError(later("{name} is not a zip archive, or it is damaged.", name=name))
    known = {DESCRIPTION, text_values.FILE, *(f"{table}.parquet" for table in schema.TABLES)}
    with guarded(unread), ZipFile(BytesIO(data)) as archive:
        found = [entry for entry in archive.infolist() if PurePosixPath(entry.filename).name in known]
        size = sum(entry.file_size for entry in found)
        if size > LARGEST:
            raise SettingError(
                later(
                    "The files in {name} have {size:,.0f} MB; at most {limit} MB are read.",
                    name=name,
                    size=size / (1 << 20),
                    limit=LARGEST >> 20,
                )
            )
        return {PurePosixPath(entry.filename).name: archive.read(entry) for entry in found}
