import { z } from 'zod';
import type { FieldError } from '../shared/field-errors.ts';
import { invisibleProblem } from '../shared/wire.ts';
import { type Declarations, deviceVariableErrors } from './device-variables.ts';
import { amountOf, partsOfQuantity } from './quantity.ts';

// Rules for values that are written now. Values that were stored before these rules remain valid:
// they are read, synced and deployed, and catalog files with them are imported with a warning.

/** The smallest amount of memory or storage, in bytes. Less is a mistaken unit. */
const MIN_BYTES = 4 * 1024 ** 2;

/**
 * Why a quantity of memory or storage is probably a mistake, with the likely meaning; undefined for
 * a plausible or an invalid one.
 */
export function byteProblem(quantity: string): string | undefined {
  const { number = '', unit = '' } = partsOfQuantity(quantity) ?? {};
  if (number === '' || Number(number) === 0) return undefined;
  const likely = ['Mi', 'Gi'].find((each) => (amountOf(`${number}${each}`) ?? 0) >= MIN_BYTES) ?? 'Ti';
  const meant = `did you mean ${number}${likely}?`;
  if (unit === 'm' || unit === 'u' || unit === 'n')
    return `must not have the unit ${unit}, which is a fraction of a byte; ${meant}`;
  return (amountOf(quantity) ?? Number(number)) < MIN_BYTES ? `must be at least 4Mi; ${meant}` : undefined;
}

/** A quantity of memory or storage that is written now. */
export const plausibleBytes = <T extends z.ZodType<string>>(quantity: T) =>
  quantity.check(({ value, issues }) => {
    const message = byteProblem(value);
    if (message !== undefined) issues.push({ code: 'custom', message, input: value });
  });

/** The members with rules for new values. */
interface Written {
  readonly name?: string | undefined;
  /** Of a template. That of a workload is a number, which requests can repeat. */
  readonly version?: unknown;
  readonly tags?: readonly string[] | undefined;
  /** The icon of a category. */
  readonly icon?: string | undefined;
  readonly memory_request?: string | undefined;
  readonly memory_limit?: string | undefined;
  readonly vram_request?: string | undefined;
  readonly icon_url?: string | null | undefined;
}

/** The values of a template, a workload or a category that can be stored, but no longer be written. */
export function newValueProblems({
  memory_request,
  memory_limit,
  vram_request,
  icon_url,
  ...named
}: Written): FieldError[] {
  const messages = {
    name: firstInvisible(named.name),
    version: typeof named.version === 'string' ? invisibleProblem(named.version) : undefined,
    tags: firstInvisible(...(named.tags ?? [])),
    icon: firstInvisible(named.icon),
    memory_request: memory_request === undefined ? undefined : byteProblem(memory_request),
    memory_limit: memory_limit === undefined ? undefined : byteProblem(memory_limit),
    vram_request: vram_request === undefined ? undefined : byteProblem(vram_request),
    icon_url: icon_url === undefined || icon_url === null ? undefined : iconProblem(icon_url),
  };
  return Object.entries(messages).flatMap(([path, message]) => (message === undefined ? [] : [{ path, message }]));
}

/**
 * The values of a stored template or workload that can no longer be written. They remain valid:
 * lists show them as warnings.
 */
export const storedValueProblems = (stored: Written & Declarations): FieldError[] => [
  ...newValueProblems(stored),
  ...deviceVariableErrors(stored),
];

/** The warnings of a stored template or workload in responses. */
export const warnings = z.array(z.object({ path: z.string(), message: z.string() })).meta({
  description: 'The stored values that can no longer be written. They remain in use until they are changed',
});

/** Refuses the values of a body that can no longer be written. */
export const refuseOldValues = z.check<Written>(({ value, issues }) => {
  for (const { path, message } of newValueProblems(value))
    issues.push({ code: 'custom', path: [path], message, input: value });
});

/** The first problem of the names that are given. */
const firstInvisible = (...names: readonly (string | undefined)[]): string | undefined =>
  names
    .map((name) => (name === undefined ? undefined : invisibleProblem(name)))
    .find((problem) => problem !== undefined);

function iconProblem(url: string): string | undefined {
  if (!/^ *https:\/\//i.test(url)) return 'must be an absolute https URL';
  const { username, password } = new URL(url.trim());
  return username === '' && password === '' ? undefined : 'must not contain a user or a password';
}
