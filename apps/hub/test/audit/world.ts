import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAuditDelivery, type Delivery } from '@svc/delivery';
import { createLog } from '@svc/http';
import { createAuthority, createTestDatabase, type SyslogReceiver, scaled, startSyslogReceiver } from '@svc/testing';
import pg from 'pg';
import { auditQueryOf, readRows } from '../../src/audit/entries.ts';
import { openDatabase } from '../../src/database/client.ts';

/** Short timings, so that retries and the end of a lease are not waited for. */
const TIMINGS = { poll: 10, lease: 400, send: scaled(5000), firstRetry: 10, longestRetry: 40, pauseMs: 5 };

type ReceiverOptions = Omit<Parameters<typeof startSyslogReceiver>[0], 'issued'>;

interface DeliveryOptions {
  readonly receiver: Pick<SyslogReceiver, 'port'>;
  /** PEM of the authority that the delivery trusts. Default: that of the receivers. */
  readonly ca?: string;
  readonly timings?: Partial<typeof TIMINGS>;
}

/** A database with an audit log, receivers of syslog, and deliveries between them. */
export async function startDeliveryWorld() {
  const { url, drop } = await createTestDatabase();
  const database = openDatabase(url, () => undefined, {
    connectTimeoutMs: scaled(20_000),
    lockTimeoutMs: scaled(2000),
    statementTimeoutMs: scaled(20_000),
  });
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'delivery-'));
  const authority = createAuthority(folder);
  const stranger = createAuthority(folder, 'stranger');
  const issued = authority.issue(['localhost']);
  const pem = (file: string) => fs.readFileSync(file, 'utf8');
  const closers: (() => Promise<unknown>)[] = [];

  const aReceiver = async (options: ReceiverOptions = {}): Promise<SyslogReceiver> => {
    const receiver = await startSyslogReceiver({ issued, ...options });
    let stopping: Promise<void> | undefined;
    const stop = () => (stopping ??= receiver.stop());
    closers.push(stop);
    return { ...receiver, stop };
  };

  /** A delivery of one process. `kill` ends it without a trace in the database, as the end of a process. */
  const aDelivery = ({ receiver, ca = pem(authority.certificate), timings }: DeliveryOptions) => {
    let isKilled = false;
    /** The numbers of rows of each read. */
    const reads: number[] = [];
    const created = createAuditDelivery({
      service: 'hub',
      settings: () => ({
        AUDIT_DELIVERY: { host: 'localhost', port: receiver.port },
        AUDIT_DELIVERY_CA: ca,
        AUDIT_DELIVERY_CERT: undefined,
        AUDIT_DELIVERY_KEY: undefined,
      }),
      query: async (...given) => {
        if (isKilled) throw new Error('the process was killed');
        return auditQueryOf(database)(...given);
      },
      readAfter: async (range) => {
        const rows = await readRows(database, range);
        reads.push(rows.length);
        return rows;
      },
      log: createLog('hub', 'silent'),
      timings: { ...TIMINGS, ...timings },
    });
    if (!created) throw new Error('the settings request no delivery');
    const delivery: Delivery = created;
    closers.push(delivery.stop);
    delivery.start();
    return {
      ...delivery,
      reads,
      kill: () => {
        isKilled = true;
        return delivery.stop();
      },
    };
  };

  /** A connection on which a test controls the transactions. */
  const aConnection = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    closers.push(() => client.end());
    return client;
  };

  /** Stops what a test has started. The next delivery begins as the first one. */
  const reset = async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await database.client.delivery.deleteMany();
  };

  return {
    database,
    reset,
    query: auditQueryOf(database),
    pem,
    issued,
    authority,
    stranger,
    aReceiver,
    aDelivery,
    aConnection,
    stop: async () => {
      await reset();
      await database.close();
      await drop();
      fs.rmSync(folder, { recursive: true });
    },
  };
}

/** Writes an entry of an actor. */
export const insert = (client: pg.Client, email: string, number = 1, entryPath = '/delivered') =>
  client.query(
    `INSERT INTO audit_entries (id, email, method, path, status, request_id)
     VALUES (gen_random_uuid(), $1, 'PUT', $3, 200, $2)`,
    [email, `${number}`, entryPath],
  );

/** The entries of messages. */
export const entriesOf = (messages: readonly string[]): { id: string; email: string; request_id: string }[] =>
  messages.map((message) => JSON.parse(message.slice(message.indexOf('{'))));
