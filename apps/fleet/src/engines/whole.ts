import { Unreachable } from './errors.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** All of an answer, as text. @throws Unreachable for one that is longer than any of an engine */
export async function wholeOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Unreachable('Its answer is longer than any that is expected of an engine.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What JSON says; undefined for what is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
