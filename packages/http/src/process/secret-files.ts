import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The maximum size of a file with a secret, in bytes. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** Errors by the name of the setting. */
export type SecretFileErrors = ReadonlyMap<string, string>;

/**
 * Reads each secret of `names` whose variable `NAME_FILE` is set from that file, without its last
 * line break. Returns the environment with these values, and an error for each secret that cannot
 * be read. Errors name the file, but never contain its content.
 */
export function withSecretFiles(
  names: readonly string[],
  environment: NodeJS.ProcessEnv,
): { readonly environment: NodeJS.ProcessEnv; readonly errors: SecretFileErrors } {
  const values: NodeJS.ProcessEnv = { ...environment };
  const errors = new Map<string, string>();
  for (const name of names) {
    const file = environment[`${name}_FILE`];
    if (!file) continue;
    if (environment[name]) {
      errors.set(name, `${name} and ${name}_FILE must not be set together: unset one of them`);
      continue;
    }
    const read = readSecretFile(file);
    if ('problem' in read) errors.set(name, `${name}_FILE: the file ${file} ${read.problem}`);
    else values[name] = read.text;
  }
  return { environment: values, errors };
}

function readSecretFile(file: string): { text: string } | { problem: string } {
  try {
    // Opening a named pipe without O_NONBLOCK would wait for its writer.
    const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return textOf(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    return { problem: fileProblem(error) };
  }
}

function textOf(handle: number): { text: string } | { problem: string } {
  if (!fstatSync(handle).isFile()) return { problem: 'is not a regular file' };
  const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(handle, bytes, length, bytes.length - length, null);
  }
  if (length > MAX_SECRET_BYTES) return { problem: `is longer than ${MAX_SECRET_BYTES} bytes` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    return { text: text.replace(/\r?\n$/, '') };
  } catch {
    return { problem: 'is not UTF-8 text' };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
};

/** Why a file cannot be used, as the end of a sentence about it. */
export function fileProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `cannot be read: ${REASONS[code] ?? code}`;
}
