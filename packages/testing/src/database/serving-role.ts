import { randomBytes } from 'node:crypto';
import { addressOf, onServer } from './databases.ts';

interface Options {
  readonly databaseUrl: string;
  readonly prismaDir: string;
  readonly auditRetentionDays?: number;
}

/** A role that serves a database which another role owns. */
export interface ServingRole {
  /** The URL of the database with this role. */
  readonly url: string;
  /** Migrates the database as its owner, which grants the role its privileges. */
  migrate(): Promise<void>;
  /** Drops the role. The database must have been dropped, because the role has privileges there. */
  drop(): Promise<void>;
}

/**
 * Creates a role with the privileges that a service receives if `MIGRATION_DATABASE_URL` is set.
 */
export async function aServingRole({ databaseUrl, prismaDir, auditRetentionDays }: Options): Promise<ServingRole> {
  // Here, because most test files do not use it.
  const { migrateDatabase } = await import('@svc/database');
  const name = `serving_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  const server = addressOf(databaseUrl, 'postgres');
  await onServer(server, (client) => client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`));
  const url = Object.assign(new URL(databaseUrl), { username: name, password }).href;
  const migrate = async () => {
    await migrateDatabase({ prismaDir, databaseUrl: url, ownerUrl: databaseUrl, auditRetentionDays });
  };
  await migrate();
  return {
    url,
    migrate,
    drop: async () => {
      await onServer(server, (client) => client.query(`DROP ROLE ${name}`));
    },
  };
}
