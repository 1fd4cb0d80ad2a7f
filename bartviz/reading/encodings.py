"""The bytes of an uploaded file -> text: decompressed within a limit, in a known or chosen encoding, never guessed."""

from __future__ import annotations

import codecs
import zlib

from bartviz.errors import SettingError, TextError, TooLong, choices
from bartviz.language import later

ENCODINGS = {
    "utf-8": "Unicode (UTF-8)",
    "utf-16": "Unicode (UTF-16)",
    "cp949": later("Korean (CP949, EUC-KR)"),
    "cp932": later("Japanese (Shift JIS)"),
    "gb18030": later("Chinese (GB 18030)"),
    "cp1251": later("Cyrillic (Windows-1251)"),
    "cp1252": later("Western European (Windows-1252)"),
    "latin-1": later("Western European (Latin-1)"),
}
_PARTS = {"cp949": "euc_kr", "cp932": "shift_jis", "gb18030": "gbk"}  # encodings that others contain
# The first bytes of files that are not text, and advice for each.
_DOCUMENT = later("Save it as plain text (.txt), or copy the text itself.")
_ARCHIVE = later("Unpack it and upload the text files in it.")
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", later("an archive or an office document (.zip, .docx, .odt, .xlsx)"), _DOCUMENT),
    (b"PK\x05\x06", later("an empty archive"), _ARCHIVE),
    (b"%PDF-", later("a PDF"), _DOCUMENT),
    (b"\xd0\xcf\x11\xe0", later("an old office document"), _DOCUMENT),
    (b"{\\rtf", later("a rich text document"), _DOCUMENT),
    (b"\x1f\x8b", later("a gzip archive"), later("Name it after its content plus one .gz, such as .txt.gz.")),
    (b"BZh", later("an archive"), _ARCHIVE),
    (b"\xfd7zXZ", later("an archive"), _ARCHIVE),
    (b"7z\xbc\xaf", later("an archive"), _ARCHIVE),
    (b"Rar!", later("an archive"), _ARCHIVE),
    (b"\x28\xb5\x2f\xfd", later("an archive"), _ARCHIVE),
    (b"\x89PNG", later("a picture"), _DOCUMENT),
    (b"\xff\xd8\xff", later("a picture"), _DOCUMENT),
    (b"GIF8", later("a picture"), _DOCUMENT),
)
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b") + b"\x7f"
_CHUNK = 1 << 16


class EncodingError(TextError):
    """Bytes that are invalid in the encoding: ``offset`` of the first one, ``encodings`` that would fit all of them."""

    def __init__(self, message: str, offset: int, encodings: tuple[str, ...]) -> None:
        super().__init__(message)
        self.offset = offset
        self.encodings = encodings


def megabytes(count: int) -> str:
    return f"{count / (1 << 20):,.1f} MB"


def check_size(count: int, limit: int) -> None:
    """Raise TooLong if a file exceeds the limit."""
    if count > limit:
        text = later(
            "The file has {size}; at most {limit} are read. Split it, or upload a part.",
            size=megabytes(count),
            limit=megabytes(limit),
        )
        raise TooLong(text, count, limit)


def unpack(data: bytes, limit: int) -> bytes:
    """The content of a gzip file, decompressed in small steps, so that a bomb cannot fill the memory.

    Raises TooLong once it exceeds ``limit`` bytes, TextError if the file is damaged or ends too early.
    """
    content = bytearray()
    while data:
        reader = zlib.decompressobj(wbits=31)
        while not reader.eof:
            try:
                content += reader.decompress(data, _CHUNK)
            except zlib.error:
                raise TextError(later("The gzip file is damaged. Pack it again, or upload the text itself.")) from None
            if len(content) > limit:
                text = later(
                    "The gzip file holds more than {limit}, which is the limit. Split it.", limit=megabytes(limit)
                )
                raise TooLong(text, len(content), limit)
            data = reader.unconsumed_tail
            if not data and not reader.eof:
                raise TextError(later("The gzip file ends too early. Pack it again, or upload the text itself."))
        data = reader.unused_data.lstrip(b"\0")
    return bytes(content)


def refuse_binary(data: bytes) -> None:
    """Raise TextError, with advice, for archives, documents, pictures and other files that are not text."""
    for start, kind, advice in _KINDS:
        if data.startswith(start):
            raise TextError(later("This file is {kind}, not text. {advice}", kind=kind, advice=advice))


def known_encoding(encoding: str | None) -> str | None:
    """The encoding by its name in ENCODINGS. Raises SettingError for one that is not there."""
    if encoding is None or encoding in ENCODINGS:
        return encoding
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        name = ""
    for known in ENCODINGS:
        if name and name in (codecs.lookup(known).name, _PARTS.get(known)):
            return known
    raise SettingError(later("Choose one of these encodings: {encodings}.", encodings=choices(ENCODINGS)))


def marked(start: bytes, encoding: str | None = None) -> str | None:
    """The encoding of the byte order mark that a file begins with, unless another one is chosen."""
    found = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    return found if encoding is None or (found is not None and found.startswith(encoding)) else None


def decode(data: bytes, encoding: str | None = None) -> str:
    """The text of a file: in ``encoding``, or that of its byte order mark (UTF-8, 16 or 32), or strict UTF-8.

    Raises EncodingError with the offset and the encodings that would fit, TextError for a file that is not text,
    SettingError for an encoding that is not in ENCODINGS.
    """
    encoding = known_encoding(encoding)
    mark = marked(data, encoding)
    name = mark or encoding or "utf-8"
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        if encoding is None and mark is None:
            _refuse_controls(data)
        raise _wrong(data, name, error) from None
    _refuse_controls(text.encode("utf-8", "surrogatepass"))
    return text


def _refuse_controls(data: bytes) -> None:
    """Raise TextError if more than one percent of the bytes are control characters that text does not contain."""
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls * 100 > len(data):
        raise TextError(
            later(
                "This file is not text: it is full of control characters. If it is UTF-16 without a byte "
                "order mark, choose that encoding; otherwise save it as plain text (.txt)."
            )
        )


def _wrong(data: bytes, name: str, error: UnicodeDecodeError) -> EncodingError:
    offset, line = error.start, data.count(b"\n", 0, error.start) + 1
    title = ENCODINGS.get(name.removesuffix("-sig"), name.upper())
    where = later("byte 0x{byte:02X} at offset {offset:,} (line {line:,})", byte=data[offset], offset=offset, line=line)
    if name.startswith("utf-8") and _overlong(data, offset):
        where = later("{where} begins an overlong form, which is never valid", where=where)
    fitting = tuple(other for other in ENCODINGS if other != name and _fits(data, other))
    names = choices(ENCODINGS[other] for other in fitting)
    advice = (
        later("Choose the encoding that it was saved in: {names}.", names=names)
        if fitting
        else later("Save it again as UTF-8.")
    )
    return EncodingError(
        later("This file is not {title}: {where}. {advice}", title=title, where=where, advice=advice), offset, fitting
    )


def _overlong(data: bytes, offset: int) -> bool:
    first, second = data[offset], data[offset + 1] if offset + 1 < len(data) else 0
    return (
        first in (0xC0, 0xC1) or (first == 0xE0 and 0x80 <= second < 0xA0) or (first == 0xF0 and 0x80 <= second < 0x90)
    )


def _fits(data: bytes, encoding: str) -> bool:
    """Whether all bytes decode in this encoding, without C1 control characters (0x80 to 0x9F)."""
    if encoding.startswith("utf"):
        return False  # would have a byte order mark, or was already tried
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return not any("\x80" <= char <= "\x9f" for char in text)
