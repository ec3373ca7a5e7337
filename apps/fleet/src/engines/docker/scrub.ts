import type { DockerManifest } from '../../render/docker.ts';
import type { EngineFailure } from '../errors.ts';

/** Shorter ones would take a part of every word with them. */
const LEAST = 4;
const INSTEAD = '•••';

/** Takes out of an engine's words every value that it was given: the driver knows not which of them are secrets. */
export function scrubberFor({ containers, registryAuth }: DockerManifest<'values'>): (text: string) => string {
  const values = containers.flatMap(({ body }) => body.Env.map((entry) => entry.slice(entry.indexOf('=') + 1)));
  const all = [...values, ...credentialsIn(registryAuth)].flatMap(formsOf);
  const needles = [...new Set(all)].filter(({ length }) => length >= LEAST).sort((a, b) => b.length - a.length);
  return (text) => needles.reduce((clean, needle) => clean.replaceAll(needle, INSTEAD), text);
}

/** A value as it is, as engines quote it, and each of its lines. */
const formsOf = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  ...value.split(/\s*\n\s*/),
  value.replace(/\s+/g, ' ').trim(),
];

function credentialsIn(registryAuth: string | undefined): string[] {
  if (registryAuth === undefined) return [];
  const { username, password } = JSON.parse(Buffer.from(registryAuth, 'base64url').toString('utf8')) as Record<
    string,
    string
  >;
  return [registryAuth, username ?? '', password ?? ''];
}

const MAX_SAID = 300;

/** A failure in a sentence, with what the engine says of it: cleaned first and cut then, so that no value is cut in two. */
export function sentenceOf({ message, answer }: EngineFailure, clean = (text: string) => text): string {
  const said = clean(answer?.said ?? '');
  if (said === '') return message;
  return `${message} The engine says: ${said.length > MAX_SAID ? `${said.slice(0, MAX_SAID)}…` : said}`;
}
