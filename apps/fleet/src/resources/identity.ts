import { Problem } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

type Table = 'hosts' | 'clusters';

/**
 * What a registration stands for: the engine of a host, or a namespace of a cluster, which can be
 * registered once for each namespace.
 */
export type Registration =
  | { readonly kind: 'host'; readonly identity: string | null }
  | { readonly kind: 'cluster'; readonly identity: string | null; readonly namespace: string };

/** The columns that identify the engine of a row. */
export const identityRow = z.object({
  /** Null: not known. */
  identity: z.string().nullable(),
  /**
   * Other rows with the same identity, and for clusters with the same namespace, the one that was
   * registered first at the beginning.
   */
  same_engine: z.array(z.object({ name: z.string(), is_earlier: z.boolean() })),
});
type IdentityRow = z.output<typeof identityRow>;

/** Limits the work of a request if many rows have the same identity. */
const MAX_NAMED = 5;

const isEarlier = Prisma.sql`(o.created_at, o.id) < (s.created_at, s.id)`;

/** Whether the rows `o` and `s` are registrations of the same. */
const IS_SAME: Readonly<Record<Table, Prisma.Sql>> = {
  hosts: Prisma.sql`o.identity = s.identity`,
  clusters: Prisma.sql`o.identity = s.identity AND o.namespace = s.namespace`,
};

/**
 * The columns of `identityRow` for a row `r`. `identity` is an expression for the identity of `r`.
 */
export const identityColumns = (table: Table, identity: Prisma.Sql): Prisma.Sql => Prisma.sql`${identity} AS identity,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('name', n.name, 'is_earlier', n.is_earlier)), '[]') FROM (
       SELECT o.name, ${isEarlier} AS is_earlier
       FROM ${Prisma.raw(table)} s JOIN ${Prisma.raw(table)} o ON ${IS_SAME[table]} AND o.id <> s.id
       WHERE s.id = r.id ORDER BY o.created_at, o.id LIMIT ${MAX_NAMED}) n) AS same_engine`;

/** The condition `Unique`: whether the engine is registered only once. */
export function uniqueCondition(kind: 'host' | 'cluster', { identity, same_engine }: IdentityRow) {
  const type = 'Unique';
  const names = same_engine.map(({ name }) => name).join(', ');
  const [first] = same_engine;
  if (identity === null) return { type, status: 'Unknown', reason: 'IdentityUnknown', message: '' };
  if (!first) return { type, status: 'True', reason: 'RegisteredOnce', message: '' };
  return first.is_earlier
    ? {
        type,
        status: 'False',
        reason: 'RegisteredBefore',
        message: `The ${kind} ${first.name} is the same engine and was registered first. Nothing new is placed here. Delete one of the two.`,
      }
    : {
        type,
        status: 'False',
        reason: 'RegisteredAgain',
        message: `The same engine is registered again as ${names}. Nothing new is placed there. Delete one of the registrations.`,
      };
}

/** The target that was registered first for the same; undefined if there is none. */
export async function registeredAs(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  registration: Registration & { readonly id?: string },
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  const { kind, id, identity } = registration;
  if (identity === null) return undefined;
  const table = Prisma.raw(kind === 'host' ? 'hosts' : 'clusters');
  const inNamespace = kind === 'host' ? Prisma.empty : Prisma.sql`AND namespace = ${registration.namespace}`;
  const other = id === undefined ? Prisma.empty : Prisma.sql`AND id <> ${id}::uuid`;
  const [first] = await reader.$queryRaw<{ id: string; name: string }[]>`
    SELECT id, name FROM ${table} WHERE identity = ${identity} ${inNamespace} ${other} ORDER BY created_at, id LIMIT 1`;
  return first;
}

/**
 * Refuses what is registered already. The caller holds the placement lock, so that two concurrent
 * requests do not register the same.
 * @throws 409
 */
export async function refuseRegistered(
  transaction: Prisma.TransactionClient,
  registration: Registration & { readonly id: string },
): Promise<void> {
  const other = await registeredAs(transaction, registration);
  if (!other) return;
  const { kind, identity } = registration;
  throw new Problem(
    'already_registered',
    kind === 'host'
      ? `The engine at this address is already registered as the host ${other.name} (${other.id}). Its identity is ${identity}. Use this host, or change its address with PUT.`
      : `The cluster at this address is already registered as the cluster ${other.name} (${other.id}) with the namespace ${registration.namespace}. Its identity is ${identity}. Use this cluster or another namespace, or change its address with PUT.`,
  );
}
