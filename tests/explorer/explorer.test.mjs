// The explorer's file and address, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { decode } from "../../bartviz/browser/canvas/numbers.js";
import { codesOf, headsOf, meanOf, opened, packed, rowsOf, tiles } from "../../bartviz/explorer/file.js";
import { hashOf, placeOf, spokenIn } from "../../bartviz/explorer/url_hash.js";

const cross = { meta: { shape: [4, 8, 9, 7] }, row: 1 };
const encoder = { meta: { shape: [2, 2, 7, 7] }, row: 2 };
const header = {
  languages: { en: "English", ko: "한국어" },
  records: [
    {
      first: { kind: "cross", layer: 2, head: 5 },
      kinds: { encoder, cross },
      player: { kind: "cross", rows: [0, 1, 2] },
    },
    { first: { kind: "encoder", layer: 1, head: 0 }, kinds: { encoder }, player: null },
  ],
};

test("a part of the file is read where the header says", async () => {
  const [text, part] = [deflateSync(JSON.stringify({ unit: 10 })), deflateSync(Uint8Array.of(1, 2, 3))];
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const file = await opened(Buffer.concat([length, text, Buffer.from("before"), part]).toString("base64"));
  assert.equal(file.header.unit, 10);
  assert.deepEqual([...(await file.part([6, part.length]))], [1, 2, 3]);
});

test("codes are low bytes and then high bytes", () => {
  assert.deepEqual([...codesOf(Uint8Array.of(1, 2, 0, 102))], [1, 2 + 256 * 102]);
});

test("a mean is that of its heads", () => {
  assert.deepEqual(headsOf([2, 3], 5), [4]);
  assert.deepEqual(headsOf([2, 3], 3), [0, 1, 2]);
  assert.deepEqual(headsOf([2, 3], 8), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...meanOf([Uint16Array.of(10, 65535), Uint16Array.of(20, 65535)])], [15, 65535]);
});

test("the player gets the rows of its steps", () => {
  const codes = Uint16Array.of(0, 10, 5, 5, 10, 0);
  assert.deepEqual([...rowsOf(codes, 2, [2, 0], 10)], [1, 0, 0, 1]);
});

test("the canvas reads the buffer that is made for it", () => {
  const shape = [1, 1, 2, 2];
  const buffer = packed({ serial: 3, shape }, [
    ["mask", "uint8", [2, 1], Uint8Array.of(128, 192)],
    tiles([Uint16Array.of(1, 2, 3, 4), Uint16Array.of(5, 6, 7, 65535)], shape),
  ]);
  const { meta, arrays } = decode(buffer);
  assert.equal(meta.serial, 3);
  assert.deepEqual([...arrays.mask], [128, 192]);
  assert.deepEqual([...arrays.tiles], [1, 2, 3, 4, 5, 6, 7, 65535]);
});

test("an address names what is shown, and what it leaves out is as at first", () => {
  const first = placeOf("", header, "ko");
  assert.deepEqual(first, {
    record: 0,
    kind: "cross",
    layer: 2,
    head: 5,
    what: "head",
    row: 1,
    view: "map",
    step: 1,
    lang: "ko",
    theme: "",
  });
  const other = placeOf(
    "#kind=encoder&layer=1&head=1&row=5&weights=layer&view=lines&step=3&lang=en&theme=dark",
    header,
    "ko",
  );
  assert.deepEqual(
    [other.kind, other.layer, other.row, other.what, other.view, other.step],
    ["encoder", 1, 5, "layer", "lines", 2],
  );
  for (const place of [first, other, placeOf("#record=2", header, "ko")])
    assert.deepEqual(placeOf(hashOf(place, header, "ko"), header, "ko"), place);
});

test("an address that names what the file does not have leads to what it has", () => {
  const place = placeOf(
    "#record=99&kind=__proto__&layer=99&head=-1&row=1e9&step=0&lang=constructor&theme=x",
    header,
    "en",
  );
  assert.deepEqual(
    [place.record, place.kind, place.layer, place.head, place.row, place.step],
    [1, "encoder", 1, 0, 2, 0],
  );
  assert.deepEqual([place.lang, place.theme], ["en", ""]);
});

test("the reader's first language that the file has", () => {
  assert.equal(spokenIn(header, ["fr-FR", "ko-KR", "en"]), "ko");
  assert.equal(spokenIn(header, ["fr"]), "en");
});
