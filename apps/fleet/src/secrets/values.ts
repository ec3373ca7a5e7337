import { invalid } from '@svc/http';
import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import { refuseAll } from '../resources/complaints.ts';
import { complaintsOfPair } from '../resources/pem.ts';
import type { Sealer } from '../sealing.ts';
import type { SecretRow } from './rows.ts';

export type Values = Readonly<Record<string, string>>;

const KEYS = { registry: ['username', 'password'], tls: ['tls.crt', 'tls.key'] } as const;

/** What each kind of secret holds. @throws 400 */
export function refuseBadValues(kind: SecretRow['kind'], values: Values): void {
  if (kind === 'opaque') return;
  const wanted: readonly string[] = KEYS[kind];
  const given = Object.keys(values);
  if (given.length !== wanted.length || wanted.some((key) => !given.includes(key))) {
    throw invalid([
      { path: 'values', message: `of a secret of kind ${kind} are ${wanted.join(' and ')}, and no others` },
    ]);
  }
  if (kind !== 'tls') return;
  const [certificate = '', key = ''] = wanted.map((name) => values[name]);
  refuseAll(complaintsOfPair({ path: 'values.tls.crt', pem: certificate }, { path: 'values.tls.key', pem: key }));
}

const placeOf = (row: string) => ({ table: 'secrets', column: 'sealed', row });

/** What is stored of values: encrypted, and their keys in clear. */
export async function sealValues(sealer: Sealer, id: string, values: Values) {
  const sealed = await sealer.seal(placeOf(id), JSON.stringify(values));
  return { sealed, sealed_with: sealer.kid, keys: Object.keys(values).sort() };
}

/** The secrets with these names, with their values: for an engine and nobody else. */
export async function openValues(
  transaction: Pick<Prisma.TransactionClient, 'secret'>,
  sealer: Sealer,
  names: readonly string[],
): Promise<{ name: string; version: number; values: Values }[]> {
  const rows = await transaction.secret.findMany({ where: { name: { in: [...names] } } });
  return Promise.all(
    rows.map(async ({ id, name, sealed, values_version }) => ({
      name,
      version: values_version,
      values: z.record(z.string(), z.string()).parse(JSON.parse(await sealer.open(placeOf(id), sealed))),
    })),
  );
}
