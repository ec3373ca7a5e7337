import { randomInt } from 'node:crypto';
import type { Sealer } from '@svc/database';
import type { Prisma } from '../generated/prisma/client.ts';
import { SEALED_KEY, sealedName } from '../render/secrets.ts';
import type { Values } from './secrets.ts';

const locationOf = (row: string) => ({ table: 'sealed_values', column: 'sealed', row });

/**
 * A value to seal, with the deployment, the workload or the application to which it belongs. It is deleted with its
 * owner.
 */
export interface ValueToSeal {
  readonly id: string;
  readonly owner:
    | { readonly deployment_id: string }
    | { readonly workload_id: string }
    | { readonly application_id: string };
  readonly variable: string;
  readonly value: string;
  /** Whether it can be revealed: the fleet generated it, and its variable is not internal. */
  readonly revealable: boolean;
}

/** Stores a value. Nothing is written if the id exists. */
export async function sealValue(
  transaction: Pick<Prisma.TransactionClient, 'sealedValue'>,
  sealer: Sealer,
  { id, owner, variable, value, revealable }: ValueToSeal,
): Promise<void> {
  const sealed = await sealer.seal(locationOf(id), value);
  const data = { id, ...owner, variable, sealed, key_id: sealer.kid, revealable };
  await transaction.sealedValue.createMany({ data, skipDuplicates: true });
}

/**
 * The value in a row of `sealed_values`. It must go to an engine, or to a caller who reveals a
 * generated value.
 */
export const openValue = (sealer: Sealer, { id, sealed }: { readonly id: string; readonly sealed: string }) =>
  sealer.open(locationOf(id), sealed);

/** Sealed values as secrets of a rendering. They must go to engines only. */
export async function openSealedValues(
  transaction: Pick<Prisma.TransactionClient, 'sealedValue'>,
  sealer: Sealer,
  ids: readonly string[],
): Promise<{ name: string; version: number; server: null; values: Values }[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.sealedValue.findMany({ where: { id: { in: [...ids] } } });
  return Promise.all(
    rows.map(async (row) => ({
      name: sealedName(row.id),
      server: null,
      version: 1,
      values: { [SEALED_KEY]: await openValue(sealer, row) },
    })),
  );
}

const CLASSES = ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz', '0123456789'] as const;
const ALPHABET = CLASSES.join('');

/**
 * A random text that satisfies common rules for passwords and needs no quoting in configuration
 * files and connection strings: upper-case and lower-case letters, digits, and a hyphen in the
 * middle.
 */
export function randomText(length: number): string {
  const characters = Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)] ?? '');
  characters[Math.floor(length / 2)] = '-';
  const isComplete = CLASSES.every((each) => characters.some((character) => each.includes(character)));
  return isComplete ? characters.join('') : randomText(length);
}
