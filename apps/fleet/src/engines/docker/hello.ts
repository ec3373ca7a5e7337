import { Unreachable } from '../errors.ts';
import { notAnEngine } from '../unreachable.ts';

/** Who answers, and how it is spoken to. */
export interface Hello {
  readonly engine: 'docker' | 'podman';
  readonly apiVersion: string;
}

/** The bodies that we make are those of the first; nothing later than the last was tried. */
const FIRST = 41;
const LAST = 47;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the answer to a ping. @throws Unreachable for what is no engine, not the one that it is said to be, or too old */
export function helloOf(headers: Headers, expected: Hello['engine']): Hello {
  const [, minor] = /^1\.(\d{1,3})$/.exec(String(headers['api-version'])) ?? [];
  if (minor === undefined) throw notAnEngine();
  const engine = headers['libpod-api-version'] === undefined ? 'docker' : 'podman';
  if (engine !== expected) throw new Unreachable(`It is registered as ${expected}, and answers as ${engine}.`);
  if (Number(minor) < FIRST) {
    throw new Unreachable(`It speaks version 1.${minor} of the Docker Engine API, and 1.${FIRST} is needed.`);
  }
  return { engine, apiVersion: `1.${Math.min(Number(minor), LAST)}` };
}
