import { randomUUID } from 'node:crypto';
import { createSealer, type EncryptionKey, type SealedColumn, type Sealer } from '@svc/database';
import type { Database } from '../../src/database/client.ts';
import { sealedColumns } from '../../src/database/encryption.ts';
import { openPatiently } from '../world.ts';

/** More than a rotation processes in one batch. */
const SESSIONS = 120;
const STATE = 'state-hash';

/** A sealed value with its place. */
export interface SealedRow {
  readonly column: SealedColumn;
  readonly row: string;
  readonly kid: string;
  readonly sealed: string;
}

/** A key in the format of ENCRYPTION_KEYS. */
function keyOf(text: string): EncryptionKey {
  const [kid = '', key = ''] = text.split(':');
  return { kid, key: new Uint8Array(Buffer.from(key, 'base64')) };
}

/**
 * Seals with the first of these keys, and opens with all. The keys have the format of
 * ENCRYPTION_KEYS.
 */
export const sealerOf = (...keys: readonly string[]): Sealer => createSealer(keys.map(keyOf));

/** All sealed values of a database. */
export async function sealedIn({ client }: Database): Promise<readonly SealedRow[]> {
  const each = sealedColumns.map(async (column) => {
    const rows = await client.$queryRawUnsafe<Omit<SealedRow, 'column'>[]>(
      `SELECT ${column.key}::text AS row, key_id AS kid, ${column.column} AS sealed
       FROM ${column.table} WHERE ${column.column} IS NOT NULL ORDER BY ${column.key}`,
    );
    return rows.map((row) => ({ ...row, column }));
  });
  return (await Promise.all(each)).flat();
}

/** A database on which fleets have started, with a sealed value in each column. */
export function openSealedRows(url: string) {
  const database = openPatiently(url);
  const { client } = database;
  const sealedFor = (sealer: Sealer, { table, column }: Pick<SealedColumn, 'table' | 'column'>, row: string) =>
    sealer.seal({ table, column, row }, `${table} ${row}`);

  const fillResources = async (sealer: Sealer) => {
    await client.$executeRaw`DELETE FROM hosts`;
    await client.$executeRaw`DELETE FROM clusters`;
    await client.$executeRaw`DELETE FROM secrets`;
    await client.$executeRaw`DELETE FROM sealed_values`;
    await client.$executeRaw`DELETE FROM webhooks`;
    await client.$executeRaw`DELETE FROM sources`;
    const aRow = async (table: 'hosts' | 'clusters' | 'secrets' | 'webhooks' | 'sources') => {
      const id = randomUUID();
      const sealed = await sealedFor(sealer, { table, column: 'sealed' }, id);
      return { id, name: id, created_by: 'test', sealed, key_id: sealer.kid };
    };
    const host = { engine: 'docker', endpoint: 'tcp://engine.example.test:2376', by_admin: true } as const;
    await client.host.create({ data: { ...(await aRow('hosts')), ...host } });
    const bare = { ...host, id: randomUUID(), name: 'without-credentials', created_by: 'test' };
    await client.host.create({ data: bare });
    const cluster = { server: 'https://cluster.example.test', by_admin: true, auth_kind: 'token' } as const;
    const names = { namespace: 'fleet', gpu_resource_name: 'nvidia.com/gpu' };
    await client.cluster.create({ data: { ...(await aRow('clusters')), ...cluster, ...names } });
    await client.secret.create({ data: { ...(await aRow('secrets')), kind: 'opaque', keys: [] } });
    const webhook = { url: 'https://hooks.example.test/', events: ['host.unreachable'] };
    await client.webhook.create({ data: { ...(await aRow('webhooks')), ...webhook } });
    const read = {
      set_name: 'shop',
      url: 'https://git.example.test/shop.git',
      branch: 'main',
      folder: '',
      user_name: 'x',
    };
    const settings = {
      has_token: true,
      interval_seconds: 300,
      mode: 'manual',
      heal: false,
      prune: 'ask',
      max_deletions: 3,
    };
    await client.source.create({ data: { ...(await aRow('sources')), ...read, ...settings, approval: 'none' } });
    const id = randomUUID();
    const sealed = await sealedFor(sealer, { table: 'sealed_values', column: 'sealed' }, id);
    await client.sealedValue.create({ data: { id, variable: 'PASSWORD', sealed, key_id: sealer.kid } });
  };

  return {
    database,
    /** Recreates the rows that a start does not create. */
    fill: async (sealer: Sealer): Promise<void> => {
      await fillResources(sealer);
      await client.$executeRaw`DELETE FROM sessions`;
      await client.$executeRaw`DELETE FROM sign_in_transactions`;
      await client.$executeRaw`DELETE FROM settings`;
      const secret = await sealer.seal(
        { table: 'settings', column: 'sealed', row: 'hub' },
        JSON.stringify({ value: 'svcc_of-nobody', address: 'http://127.0.0.1:1' }),
      );
      await client.setting.create({ data: { name: 'hub', sealed: secret, key_id: sealer.kid } });
      const sealed = await sealedFor(sealer, { table: 'sign_in_transactions', column: 'sealed' }, STATE);
      const at = new Date(Date.now() + 60_000);
      await client.signInTransaction.create({
        data: { state_hash: STATE, browser_hash: '', sealed, key_id: sealer.kid, return_to: '/', expires_at: at },
      });
      const sessions = Array.from({ length: SESSIONS }, async () => {
        const id = randomUUID();
        const provider_token = await sealedFor(sealer, { table: 'sessions', column: 'provider_token' }, id);
        return { id, fingerprint: 'of-the-test', expires_at: at, provider_token, key_id: sealer.kid };
      });
      await client.session.createMany({ data: await Promise.all(sessions) });
    },
    /** The decrypted values. @throws if a value cannot be opened in its place */
    opened: async (sealer: Sealer) =>
      Promise.all(
        (await sealedIn(database)).map(async ({ column: { table, column }, row, sealed }) => ({
          place: `${table}.${column} ${row}`,
          plaintext: await sealer.open({ table, column, row }, sealed),
        })),
      ),
    keysInUse: async (): Promise<string[]> => [...new Set((await sealedIn(database)).map(({ kid }) => kid))].sort(),
    stop: () => database.close(),
  };
}
