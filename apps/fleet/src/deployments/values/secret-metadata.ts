import type { Prisma } from '../../generated/prisma/client.ts';
import { isSealedName } from '../../render/secrets.ts';
import { type SecretScope, secretScope } from '../../resources/secret-uses.ts';
import type { BoundVariable } from '../bindings.ts';
import type { Draft } from '../draft.ts';

/** A secret that a deployment needs, without its values. */
export interface SecretMetadata extends SecretScope {
  readonly name: string;
  readonly version: number;
  readonly keys: readonly string[];
  /**
   * The only registry that receives the secret; null for other kinds, and for a secret without a
   * server.
   */
  readonly server: string | null;
}

/** The secrets with these names that exist. */
export async function readSecretMetadata(
  transaction: Prisma.TransactionClient,
  names: readonly string[],
): Promise<SecretMetadata[]> {
  if (names.length === 0) return [];
  const rows = await transaction.secret.findMany({ where: { name: { in: [...names] } } });
  return rows.map((row) => {
    const { name, values_version: version, keys, server } = row;
    return { name, version, keys, server, ...secretScope.parse(row) };
  });
}

/** The names of the secrets that a deployment needs, by its workload and by its own bindings. */
export const namesOfSecrets = ({ workload }: Draft, bound: readonly BoundVariable[]): string[] => [
  ...new Set([...workload.secretNames, ...bound.map(({ name }) => name).filter((name) => !isSealedName(name))]),
];

/** Whether a secret has what a registry requires. */
export const isPullSecret = ({ keys }: SecretMetadata): boolean =>
  ['username', 'password'].every((key) => keys.includes(key));
