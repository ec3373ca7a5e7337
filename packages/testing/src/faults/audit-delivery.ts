import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { freePort } from '@svc/database/embedded';
import { onServer } from '../database/databases.ts';
import { figure } from '../run/depth.ts';
import { eventually } from '../run/eventually.ts';
import { createAuthority } from '../servers/authority.ts';
import { type StartedProcess, startProcess } from '../servers/processes.ts';
import type { RunningService } from './prepare.ts';

const RECEIVER = fileURLToPath(new URL('./syslog-receiver-process.ts', import.meta.url));
const ACTORS = 10;

interface Scenario {
  readonly databaseUrl: string;
  /** An empty folder for certificates and what the receiver stores. */
  readonly folder: string;
  /** The column, and member of an entry, that names the caller. */
  readonly actor: 'actor' | 'email';
  /** The number of entries. */
  readonly entries: number;
  /** How often the service and the receiver are killed, each. */
  readonly kills: number;
  /** Starts the service with further settings, at a free port unless one is given. */
  readonly start: (environment: Readonly<Record<string, string>>, port?: number) => Promise<RunningService>;
}

/**
 * Several actors write audit entries, some in transactions that commit late or are rolled back, while
 * the service delivers them to a receiver, and both are killed in turn. Fails unless the receiver has
 * stored each committed entry, and the first copies of the entries of each actor in their order.
 */
export async function deliverThroughKills({
  databaseUrl,
  folder,
  actor,
  entries,
  kills,
  start,
}: Scenario): Promise<void> {
  const stored = path.join(folder, 'messages');
  fs.writeFileSync(stored, '');
  const authority = createAuthority(folder);
  const { certificate, key } = authority.issue(['localhost']);
  const port = await freePort();
  const started: StartedProcess[] = [];
  const aReceiver = async () => {
    const receiver = startProcess(RECEIVER, [`${port}`, certificate, key, stored], {});
    started.push(receiver);
    await eventually('the receiver listens', () => receiver.output().includes('listening'));
    return receiver;
  };
  const environment = { AUDIT_DELIVERY: `tls://localhost:${port}`, AUDIT_DELIVERY_CA_FILE: authority.certificate };
  const messages = () => fs.readFileSync(stored, 'utf8').split('\n').slice(0, -1);
  const arrived = () => firstCopies(messages(), actor);
  try {
    let receiver = await aReceiver();
    let service = await start(environment);
    await eventually('the delivery has begun', () => begun(databaseUrl));
    const written = Promise.all(
      Array.from({ length: ACTORS }, (_, index) =>
        write({ databaseUrl, actor, name: `actor ${index}`, entries: entries / ACTORS }),
      ),
    );
    for (let kill = 1; kill <= 2 * kills; kill += 1) {
      const enough = (kill * entries) / (2 * kills + 1);
      await eventually(`${enough} entries have arrived`, () => arrived().size, { until: (size) => size >= enough });
      expect(arrived().size).toBeLessThan(entries);
      const killed = kill % 2 === 1 ? receiver : service;
      killed.child.kill('SIGKILL');
      await killed.ended;
      if (killed === receiver) receiver = await aReceiver();
      else service = await start(environment, service.port);
    }
    const committed = (await written).flat();
    await eventually('all entries have arrived', () => arrived().size, { until: (size) => size >= committed.length });
    const first = arrived();
    expect([...first.keys()].sort()).toEqual(committed.sort());
    for (const numbers of numbersByActor([...first.values()]).values())
      expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    figure(`${entries} entries through ${kills} kills of each side: ${messages().length - entries} copies`);
  } finally {
    for (const { child, ended } of started) {
      child.kill('SIGKILL');
      await ended;
    }
  }
}

const begun = async (databaseUrl: string): Promise<boolean> =>
  onServer(
    databaseUrl,
    async (client) => (await client.query("SELECT FROM deliveries WHERE name = 'audit'")).rowCount === 1,
  );

interface Writer {
  readonly databaseUrl: string;
  readonly actor: Scenario['actor'];
  readonly name: string;
  readonly entries: number;
}

/** Writes numbered entries, one after another. @returns the ids of the committed ones */
const write = ({ databaseUrl, actor, name, entries }: Writer): Promise<string[]> =>
  onServer(databaseUrl, async (client) => {
    const ids: string[] = [];
    for (let number = 1; ids.length < entries; number += 1) {
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO audit_entries (id, ${actor}, method, path, status, request_id)
         VALUES (gen_random_uuid(), $1, 'PUT', '/delivered', 200, $2) RETURNING id`,
        [name, `${number}`],
      );
      if (number % 20 === 0) await pause(50); // later entries of others commit first
      const isCommitted = number % 33 !== 0;
      await client.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
      if (isCommitted) ids.push(...rows.map(({ id }) => id));
    }
    return ids;
  });

interface Delivered {
  readonly id: string;
  readonly request_id: string;
  readonly actor?: string;
  readonly email?: string;
}

const entryOf = (message: string): Delivered => JSON.parse(message.slice(message.indexOf('{')));

/** The entries that the actors of the test have written, in the order of their first copies. */
function firstCopies(messages: readonly string[], actor: Scenario['actor']): Map<string, Delivered> {
  const first = new Map<string, Delivered>();
  for (const entry of messages.map(entryOf))
    if (entry[actor]?.startsWith('actor ') && !first.has(entry.id)) first.set(entry.id, entry);
  return first;
}

const numbersByActor = (entries: readonly Delivered[]) =>
  new Map(
    [...Map.groupBy(entries, ({ actor, email }) => actor ?? email)].map(([name, own]) => [
      name,
      own.map(({ request_id }) => Number(request_id)),
    ]),
  );
