import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { Portions, Work } from './bounds.ts';
import { applyDelta } from './delta.ts';
import { GitError } from './errors.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface GitObject {
  readonly type: ObjectType;
  readonly data: Buffer;
}

/** Objects by their ids. */
export type Objects = ReadonlyMap<string, GitObject>;

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFS_DELTA = 6;
const REF_DELTA = 7;

const HEADER_BYTES = 12;
const ID_BYTES = 20;
const HASHED_AT_ONCE = 2 ** 20;

/** An object as a pack contains it. */
interface Entry {
  readonly type: ObjectType | 'delta';
  /** Decompressed. */
  readonly data: Buffer;
  /** Of a difference: the offset or the id of its base. */
  readonly base?: number | string;
  /** Where the next entry begins. */
  readonly end: number;
}

interface Resolved extends GitObject {
  /** Where its entry begins. */
  readonly offset: number;
}

/** A difference whose base is not known yet. */
interface Waiting {
  readonly offset: number;
  readonly delta: Buffer;
}

/**
 * The objects of a pack (gitformat-pack). Their ids are computed, so that no object can pretend to be another one. Each
 * difference is applied once, after its base, and all results count, so that chains of differences cost no more than the bound.
 * @throws GitError if the pack is damaged, lacks the base of a difference, or exceeds a bound
 */
export async function readPack(pack: Buffer, { budget, portions }: Work): Promise<Objects> {
  const end = pack.length - ID_BYTES;
  if (end < HEADER_BYTES || pack.toString('latin1', 0, 4) !== 'PACK') throw damaged();
  const version = pack.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw new GitError(`The pack has the version ${version} instead of 2 or 3.`);
  if (!(await digestOf(pack.subarray(0, end), portions)).equals(pack.subarray(end))) throw damaged();
  const count = pack.readUInt32BE(8);
  budget.addObjects(count);

  const objects = new Map<string, GitObject>();
  const waiting = new Map<number | string, Waiting[]>();
  const bases: Resolved[] = [];
  let unresolved = 0;
  const content = pack.subarray(0, end);
  let at = HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    if (portions.isOver()) await portions.next();
    const { type, data, base, end } = readEntry(content, at, (size) => budget.addObject(size));
    if (type !== 'delta') bases.push({ offset: at, type, data });
    else if (base !== undefined) {
      const others = waiting.get(base);
      if (others) others.push({ offset: at, delta: data });
      else waiting.set(base, [{ offset: at, delta: data }]);
      unresolved += 1;
    }
    at = end;
  }
  if (at !== end) throw damaged();

  for (let base = bases.pop(); base; base = bases.pop()) {
    const { type, data } = base;
    const id = idOf(type, data);
    objects.set(id, { type, data });
    for (const key of [base.offset, id]) {
      const deltas = waiting.get(key) ?? [];
      waiting.delete(key);
      unresolved -= deltas.length;
      for (const { offset, delta } of deltas) {
        bases.push({ offset, type, data: applyDelta(delta, data, budget) });
        if (portions.isOver()) await portions.next();
      }
    }
    if (portions.isOver()) await portions.next();
  }
  if (unresolved > 0) throw new GitError('The pack lacks the base of a difference.');
  return objects;
}

/** Reads an entry. @param allow is called with the size before it is decompressed */
function readEntry(content: Buffer, start: number, allow: (size: number) => void): Entry {
  let at = start;
  const next = (): number => {
    const byte = content[at];
    if (byte === undefined) throw damaged();
    at += 1;
    return byte;
  };
  let byte = next();
  const kind = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; byte >= 128; factor *= 128) {
    byte = next();
    size += (byte & 127) * factor;
    if (size > Number.MAX_SAFE_INTEGER) throw damaged();
  }
  let base: number | string | undefined;
  if (kind === OFS_DELTA) {
    byte = next();
    let distance = byte & 127;
    while (byte >= 128) {
      byte = next();
      distance = (distance + 1) * 128 + (byte & 127);
      if (distance > start) throw damaged();
    }
    base = start - distance;
  } else if (kind === REF_DELTA) {
    base = content.toString('hex', at, at + ID_BYTES);
    at += ID_BYTES;
  }
  const type = base === undefined ? TYPES[kind] : 'delta';
  if (!type) throw damaged();
  allow(size);
  const { data, length } = inflate(content.subarray(at), size);
  return { type, data, ...(base !== undefined && { base }), end: at + length };
}

const MIN_CHUNK = 64; // of zlib

/**
 * Decompresses at most `size` bytes. The buffer has this size from the beginning: by default, each object would keep a buffer
 * of 16 KiB.
 */
function inflate(compressed: Buffer, size: number): { readonly data: Buffer; readonly length: number } {
  try {
    // The types do not declare what `info` changes.
    const { buffer, engine } = inflateSync(compressed, {
      info: true,
      maxOutputLength: Math.max(size, 1),
      chunkSize: Math.max(size + 1, MIN_CHUNK),
    }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    if (buffer.length === size) return { data: buffer, length: engine.bytesWritten };
  } catch {
    // The message of zlib does not help operators.
  }
  throw damaged();
}

const damaged = () => new GitError('The pack that the server sent is incomplete or damaged.');

async function digestOf(data: Buffer, portions: Portions): Promise<Buffer> {
  const hash = createHash('sha1');
  for (let at = 0; at < data.length; at += HASHED_AT_ONCE) {
    hash.update(data.subarray(at, at + HASHED_AT_ONCE));
    if (portions.isOver()) await portions.next();
  }
  return hash.digest();
}

const idOf = (type: ObjectType, data: Buffer): string =>
  createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');

/** The data of an object. @throws GitError if the server has not sent it, or if it has another type */
export function dataOf(objects: Objects, id: string, type: ObjectType): Buffer {
  const found = objects.get(id);
  if (found?.type !== type) throw new GitError(`The server has not sent the ${type} ${id}.`);
  return found.data;
}
