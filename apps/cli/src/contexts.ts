import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Failure } from './errors.ts';

export type Service = 'fleet' | 'hub';

/** What a client sends to prove who it is. */
export type Credential =
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'session';
      readonly token: string;
      /** Exchanges the token for a new one. A session of the hub has none. */
      readonly refresh: string | null;
      /** Until when the token is valid, in milliseconds since 1970. */
      readonly until: number;
    };

/** A service, with the account in it. */
export interface Context {
  readonly url: string;
  readonly service: Service;
  readonly credential: Credential;
}

export interface Contexts {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Context>>;
}

const NONE: Contexts = { current: null, contexts: {} };

const fileName = (): string =>
  path.join(process.env.XDG_CONFIG_HOME || path.join(homedir(), '.config'), 'svc', 'config.json');

/** Reads the contexts of the user. @throws Failure if the file is damaged */
export function readContexts(): Contexts {
  const file = fileName();
  const text = readIfExists(file);
  if (text === undefined) return NONE;
  const value = parse(text);
  if (!isContexts(value)) throw new Failure(`${file} is damaged. Delete it, and sign in again.`);
  return value;
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isContexts = (value: unknown): value is Contexts =>
  isObject(value) &&
  (value.current === null || typeof value.current === 'string') &&
  isObject(value.contexts) &&
  Object.values(value.contexts).every(isContext);

const isContext = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.url === 'string' &&
  (value.service === 'fleet' || value.service === 'hub') &&
  isObject(value.credential) &&
  typeof value.credential.token === 'string';

/**
 * Replaces the contexts. Only the user can read the file, and another process reads it as it was
 * before or as it is now.
 */
export function writeContexts(contexts: Contexts): void {
  const file = fileName();
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600); // the file may have been left by a process that was killed
  renameSync(next, file);
}

/** Changes one context, and reads the others again, because another process may have changed them. */
export function updateContext(name: string, change: (before: Context) => Context): void {
  const { current, contexts } = readContexts();
  const before = contexts[name];
  if (before) writeContexts({ current, contexts: { ...contexts, [name]: change(before) } });
}
