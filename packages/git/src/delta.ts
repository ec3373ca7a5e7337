import type { Budget } from './bounds.ts';
import { GitError } from './errors.ts';

/** Copies of fewer bytes are faster one by one, and a difference can consist of a million of them. */
const SHORT = 32;
/** The length of a copy that states none. */
const DEFAULT_LENGTH = 0x10000;

/**
 * The object that a difference makes of its base (gitformat-pack, "Deltified representation"). Each instruction produces at
 * least one byte, so the counted size of the result bounds the work.
 * @throws GitError if the difference is not for this base, or malformed
 */
export function applyDelta(delta: Buffer, base: Buffer, budget: Budget): Buffer {
  let at = 0;
  const next = (): number => {
    const byte = delta[at];
    if (byte === undefined) throw malformedDelta();
    at += 1;
    return byte;
  };
  const size = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = next();
      value += (byte & 127) * factor;
      if (value > Number.MAX_SAFE_INTEGER) throw malformedDelta();
      if (byte < 128) return value;
    }
  };
  /** A number whose bytes other than zero are given. The bits of `code` from `first` on state which ones they are. */
  const sparse = (code: number, first: number, bytes: number): number => {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) {
      if (code & (first << index)) value += next() * 2 ** (8 * index);
    }
    return value;
  };

  if (size() !== base.length) throw malformedDelta();
  const resultSize = size();
  budget.addObject(resultSize);
  const result = Buffer.alloc(resultSize);
  let end = 0;
  const append = (source: Buffer, from: number, length: number) => {
    if (from + length > source.length || end + length > resultSize) throw malformedDelta();
    if (length < SHORT) for (let index = 0; index < length; index += 1) result[end + index] = source[from + index] ?? 0;
    else source.copy(result, end, from, from + length);
    end += length;
  };
  while (at < delta.length) {
    const code = next();
    if (code & 0x80) {
      const from = sparse(code, 0x01, 4);
      append(base, from, sparse(code, 0x10, 3) || DEFAULT_LENGTH);
    } else {
      if (code === 0) throw malformedDelta(); // reserved
      append(delta, at, code);
      at += code;
    }
  }
  if (end !== resultSize) throw malformedDelta();
  return result;
}

const malformedDelta = () => new GitError('A difference in the pack is malformed, or not for its base.');
