// PostgreSQL servers of the benches.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@svc/database/embedded';
import pg from 'pg';
import { cpuOf } from './processes.mjs';

const password = () => randomBytes(12).toString('hex');

/**
 * Starts a PostgreSQL server. `create(name)` creates a database and returns its URL, and `cpu()` is
 * the CPU time of all processes of the server so far, in milliseconds.
 * @param durable whether the server waits for its disk at each commit, as in production
 * @param autovacuum whether it analyzes tables that grow, as in production. Statements that were planned for an empty table
 * are then planned again. A durable server always does
 */
export async function startPostgres({ durable = false, autovacuum = false } = {}) {
  const folder = durable ? fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-postgres-')) : undefined;
  // PostgreSQL can run as another user, who must be able to enter the folder.
  if (folder) fs.chmodSync(folder, 0o711);
  const remove = () => folder && fs.rmSync(folder, { recursive: true, force: true });
  const options = folder ? { dataDir: path.join(folder, 'data'), password: password() } : { autovacuum };
  const postgres = await startEmbeddedPostgres(options).catch((error) => {
    remove();
    throw error;
  });
  const postmaster = Number(fs.readFileSync(path.join(postgres.dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  return {
    create: (name) => postgres.ensureDatabase({ name, role: name, password: password() }),
    cpu: () => cpuOf(postmaster, { children: true }),
    stop: async () => {
      await postgres.stop();
      remove();
    },
  };
}

/** Runs some work with a client of a database. */
export async function withClient(connectionString, work) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
