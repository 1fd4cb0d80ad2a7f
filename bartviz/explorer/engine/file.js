// The models of a page: what model.py writes, read into memory that the kernel multiplies in.

/** @import { Matrix } from "./types.js" */
import { Model } from "./capture.js";
import { kernel } from "./kernel.js";
import { Network } from "./network.js";
import { Tokenizer } from "./tokenizer.js";

/** The file is damaged, or a part of it is missing. */
export class DamagedError extends Error {}

/** The file could not be fetched from its host. */
export class UnreachableError extends Error {}

/**
 * The bytes that a text of base64 stands for.
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(text) {
  if ("fromBase64" in Uint8Array) return /** @type {any} */ (Uint8Array).fromBase64(text);
  const whole = atob(text),
    bytes = new Uint8Array(whole.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = whole.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * A function that gives the bytes from one place to another.
 * @typedef {(from: number, to: number) => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>} Reader
 */

/**
 * Of bytes that are there.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Reader}
 */
export const within = (bytes) => (from, to) => bytes.slice(from, to);

/**
 * Of a file on a host, which is asked for the part alone; one that sends all of it is asked once.
 * @param {string} address
 * @returns {Reader}
 */
export function fetched(address) {
  let whole = null;
  return async (from, to) => {
    if (whole) return whole.slice(from, to);
    const answer = await arrived(fetch(address, { headers: { Range: `bytes=${from}-${to - 1}` } }));
    if (!answer.ok) throw new UnreachableError(`${answer.status} ${address}`);
    const bytes = new Uint8Array(await arrived(answer.arrayBuffer()));
    if (answer.status === 206) return bytes;
    whole = bytes;
    return whole.slice(from, to);
  };
}

/**
 * What a host was asked for.
 * @template T
 * @param {Promise<T>} asked
 */
async function arrived(asked) {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RangeError) throw error; // no memory for it
    throw new UnreachableError(String(error), { cause: error });
  }
}

/**
 * A model of a file: its header and its tensors.
 * @param {Reader} reader
 * @param {(share: number) => void} report
 * @returns {Promise<Model>}
 */
export async function opened(reader, report = () => {}) {
  try {
    return await read(reader, report);
  } catch (error) {
    if (error instanceof RangeError || error instanceof UnreachableError) throw error; // no memory for it, or no host
    throw new DamagedError(String(error), { cause: error });
  }
}

const AT_ONCE = 8; // parts that are asked for together

/**
 * @param {Reader} reader
 * @param {(share: number) => void} report
 */
async function read(reader, report) {
  const first = await reader(0, 4);
  if (first.length < 4) throw new DamagedError("no header");
  const start = 4 + new DataView(first.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(await inflated(await reader(4, start))));
  const { buffer, linear } = kernel(header.room);
  const memory = new Uint8Array(buffer),
    { parts } = header;
  for (let i = 0; i < parts.length; i += AT_ONCE) {
    const together = parts.slice(i, i + AT_ONCE),
      last = together.at(-1);
    const [from, to] = [start + together[0].at, start + last.at + last.length];
    const bytes = await reader(from, to);
    if (bytes.length < to - from) throw new DamagedError(`${to} bytes`);
    for (const { at, length, to: where } of together) {
      const begin = start + at - from;
      memory.set(await inflated(bytes.slice(begin, begin + length)), where);
    }
    report(Math.min((i + AT_ONCE) / parts.length, 1));
  }
  /** @type {(Matrix | Float32Array)[]} */
  const tensors = header.tensors.map(({ shape: [rows, columns], type, at, scales }) => {
    const count = rows * (columns ?? 1);
    const values = type === "int8" ? new Int8Array(buffer, at, count) : new Float32Array(buffer, at, count);
    if (columns === undefined) return values;
    return { rows, columns, values, scales: scales === null ? null : new Float32Array(buffer, scales, rows) };
  });
  const network = new Network(header.spec, tensors, linear);
  return new Model(network, new Tokenizer(header.tokenizer), header.generation, header.info);
}
