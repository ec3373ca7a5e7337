// Writes packs and responses of servers without git, so that they can be wrong in any way.
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { GitObject, ObjectType } from '../src/pack.ts';

export const idOf = ({ type, data }: GitObject): string =>
  createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');

/** An entry of a pack. Its size can be stated wrongly. */
interface PackEntry {
  /** The number of the type: 1 to 4 for objects, 6 and 7 for differences. */
  readonly kind: number;
  /** What is compressed. */
  readonly data: Uint8Array;
  /** Of a difference: the position of the base in the pack, or its id. */
  readonly base?: number | string;
  /** Default: the length of the data. */
  readonly size?: number;
  /** Default: the compressed data. */
  readonly compressed?: Uint8Array;
}

const KINDS: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** Seven bits per byte, the low ones first, after `first` bits in the first byte. */
function sizeBytes(size: number, kind?: number): number[] {
  const bytes: number[] = [];
  let rest = size;
  if (kind !== undefined) {
    bytes.push((kind << 4) | (rest % 16) | (rest >= 16 ? 128 : 0));
    rest = Math.floor(rest / 16);
    if (rest === 0) return bytes;
  }
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

function distanceBytes(distance: number): number[] {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift((rest % 128) | 128);
  }
  return bytes;
}

/** A pack. @param count the declared number of objects. Default: the real one */
export function packOf(entries: readonly PackEntry[], count: number = entries.length): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const parts: Buffer[] = [head];
  const offsets: number[] = [];
  let at = head.length;
  for (const { kind, data, base, size = data.length, compressed } of entries) {
    offsets.push(at);
    const reference =
      typeof base === 'number' ? distanceBytes(at - (offsets[base] ?? 0)) : [...Buffer.from(base ?? '', 'hex')];
    const entry = Buffer.concat([
      Buffer.from([...sizeBytes(size, kind), ...reference]),
      compressed ?? deflateSync(data),
    ]);
    parts.push(entry);
    at += entry.length;
  }
  return sealed(Buffer.concat(parts));
}

/** A pack without its end, with the right checksum. */
export const sealed = (content: Buffer): Buffer =>
  Buffer.concat([content, createHash('sha1').update(content).digest()]);

/** A difference in its general form. */
export function deltaOf(
  baseSize: number,
  resultSize: number,
  instructions: readonly (number | Uint8Array)[][],
): Buffer {
  const parts = instructions.flat().map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part)));
  return Buffer.concat([Buffer.from([...sizeBytes(baseSize), ...sizeBytes(resultSize)]), ...parts]);
}

/** The instruction that copies a part of the base, with all bytes of both numbers. */
export const copyOf = (from: number, length: number): number[] => [
  0x80 | 0x7f,
  ...[0, 8, 16, 24].map((bits) => Math.floor(from / 2 ** bits) % 256),
  ...[0, 8, 16].map((bits) => Math.floor(length / 2 ** bits) % 256),
];

/** A difference that copies what both have in common at their begin and end. */
export function differenceOf(base: Buffer, result: Buffer): Buffer {
  const most = Math.min(base.length, result.length);
  let start = 0;
  while (start < most && base[start] === result[start]) start += 1;
  let end = 0;
  while (end < most - start && base[base.length - 1 - end] === result[result.length - 1 - end]) end += 1;
  const instructions: (number | Uint8Array)[][] = start > 0 ? [copyOf(0, start)] : [];
  const inserted = result.subarray(start, result.length - end);
  for (let at = 0; at < inserted.length; at += 127) {
    const part = inserted.subarray(at, at + 127);
    instructions.push([part.length, part]);
  }
  if (end > 0) instructions.push(copyOf(base.length - end, end));
  return deltaOf(base.length, result.length, instructions);
}

/** How objects are stored in a pack. */
export type Deltas = 'none' | 'offsets' | 'ids';

/** A pack with chains of differences between successive objects of a type. With ids, each base comes after its differences. */
export function packWith(objects: readonly GitObject[], deltas: Deltas): Buffer {
  const previous = new Map<ObjectType, { readonly index: number; readonly object: GitObject }>();
  const entries = objects.map((object, index) => {
    const { type, data } = object;
    const base = previous.get(type);
    previous.set(type, { index, object });
    if (!base || deltas === 'none') return { kind: KINDS[type], data };
    const difference = differenceOf(base.object.data, data);
    return deltas === 'offsets'
      ? { kind: 6, data: difference, base: base.index }
      : { kind: 7, data: difference, base: idOf(base.object) };
  });
  return packOf(deltas === 'ids' ? entries.reverse() : entries);
}

const packet = (data: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from((Buffer.byteLength(data) + 4).toString(16).padStart(4, '0')), Buffer.from(data)]);

/** Packet lines. `flush` and `delimiter` are special packets. */
export const packets = (...lines: readonly (Uint8Array | string)[]): Buffer =>
  Buffer.concat(
    lines.map((line) => {
      if (line === 'flush') return Buffer.from('0000');
      return line === 'delimiter' ? Buffer.from('0001') : packet(line);
    }),
  );

const MAX_DATA = 65_515;

/** The response with a pack, and messages about the progress. */
export function packResponse(pack: Buffer, bytesPerPacket: number = MAX_DATA): Buffer {
  const lines: Buffer[] = [];
  for (let at = 0; at < pack.length; at += bytesPerPacket)
    lines.push(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + bytesPerPacket)]));
  const progress = Buffer.from('\u0002Counting objects: 3, done.\n');
  return packets('shallow-info\n', 'delimiter', 'packfile\n', progress, ...lines, 'flush');
}
