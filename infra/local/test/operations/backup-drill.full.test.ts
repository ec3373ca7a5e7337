// The drill of docs/backup.md with its own commands: a hub and a fleet, each with two database roles, are backed up while they serve
// writes, and restored on new servers.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  describeWithPostgresPrograms,
  eventually,
  figure,
  onServer,
  postgresPrograms,
  startWebhookReceiver,
  verifyMessage,
  type WebhookReceiver,
} from '@svc/testing';
import { startLoad, statusesOf } from '@svc/testing/faults';
import { aDrill, type Drill, documented } from './backup-drill.ts';

const SOME_WRITES = 100;

/** The number of rows of all tables. */
const rowsOf = (databaseUrl: string): Promise<number> =>
  onServer(databaseUrl, async (client) => {
    const { rows: tables } = await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    let sum = 0;
    for (const { tablename } of tables) {
      const { rows } = await client.query(`SELECT count(*)::int FROM ${client.escapeIdentifier(tablename)}`);
      sum += rows[0].count;
    }
    return sum;
  });

const namesIn = (databaseUrl: string, statement: string): Promise<Set<string>> =>
  onServer(
    databaseUrl,
    async (client) => new Set((await client.query(statement)).rows.map(({ name }) => String(name))),
  );

const missingIn = (names: ReadonlySet<string>, acknowledged: readonly string[]) =>
  acknowledged.filter((name) => !names.has(name));

// Each test continues where the previous one ended.
describeWithPostgresPrograms('the drill of a backup', () => {
  let folder: string;
  let drill: Drill;
  let receiver: WebhookReceiver<unknown>;
  let webhook: { readonly id: string; readonly secret: string };
  let beforeDump: { readonly templates: readonly string[]; readonly secrets: readonly string[] };
  const ids = { kept: '', doomed: '', later: '', unwanted: '' };

  const templatesOfHub = () => namesIn(drill.databases.hub, 'SELECT slug AS name FROM templates');
  const templatesOfFleet = () => namesIn(drill.databases.fleet, 'SELECT slug AS name FROM catalog_templates');
  const sync = () => drill.good('fleet', 'POST', '/catalog/sync', {});
  const deploy = async (name: string, workload_id: string): Promise<string> => {
    const { deployment } = await drill.good('fleet', 'POST', '/deployments', {
      name,
      workload_id,
      env: { MODE: 'fast' },
    });
    await drill.untilRunning(deployment.id);
    return deployment.id;
  };
  /** Whether the role of the fleet can delete audit entries, which only one of the owner must. */
  const changesAudit = () =>
    onServer(drill.databases.fleet, async (client) => {
      const privilege = "has_table_privilege('fleet_service', 'audit_entries', 'UPDATE, DELETE, TRUNCATE')";
      const forget = "has_function_privilege('public', 'audit_forget(timestamptz, uuid)', 'EXECUTE')";
      return (await client.query(`SELECT ${privilege} OR ${forget} AS may`)).rows[0].may;
    });
  const orphans = async () => JSON.parse((await drill.run(documented('/orphans"'))).output).orphans;

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(tmpdir(), 'backup-drill-'));
    const programs = postgresPrograms();
    if (programs === undefined) throw new Error('PostgreSQL 15 or later is not installed on this machine');
    drill = await aDrill(programs, folder);
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await drill?.close();
    await receiver?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  test('both databases are dumped while the services acknowledge writes, and the services continue', async () => {
    const { templates, secrets } = drill;
    const plain = { name: 'plain', image_name: 'team/app', env_schema: [{ name: 'MODE' }] };
    const stateful = { ...plain, name: 'stateful', volume_mounts: [{ name: 'data', mountPath: '/data' }] };
    const workloadId = async (body: object): Promise<string> =>
      (await drill.good('fleet', 'POST', '/workloads', body)).workload.id;
    const [plainId, statefulId] = [await workloadId(plain), await workloadId(stateful)];
    ids.kept = await deploy('kept', plainId);
    ids.doomed = await deploy('doomed', plainId);

    const hook = { name: 'receiver', url: receiver.url, events: ['access.requested'] };
    ({ webhook } = await drill.good('hub', 'POST', '/admin/webhooks', hook));

    const load = startLoad([templates.writer, templates.writer, secrets.writer, secrets.writer]);
    const acknowledged = () => Math.min(templates.acknowledged.length, secrets.acknowledged.length);
    const until = (count: number) => eventually('writes are acknowledged', async () => acknowledged() >= count);
    await until(SOME_WRITES);
    beforeDump = { templates: [...templates.acknowledged], secrets: [...secrets.acknowledged] };
    const fleet = await drill.run(documented('--file=fleet.dump'));
    const hub = await drill.run(documented('--file=hub.dump'));
    await until(acknowledged() + SOME_WRITES); // what is written after the dumps is not in them
    expect(statusesOf(await load.stop())).toEqual([201]);
    figure(`dumps under load: fleet ${fleet.seconds.toFixed(2)} s, hub ${hub.seconds.toFixed(2)} s`);

    await drill.good('fleet', 'DELETE', `/deployments/${ids.doomed}`);
    ids.later = await deploy('later', statefulId);
    ids.unwanted = await deploy('unwanted', plainId);
    await sync();
    expect(await templatesOfFleet()).toEqual(await templatesOfHub());
  });

  test('a fleet converges to a hub that was restored, although the catalog time of the hub moved backwards', async () => {
    const before = await drill.good('fleet', 'GET', '/catalog/sync');
    await drill.stop('hub');
    await drill.moveToNewServer('hub', async (server) => {
      // A fault: the new server has the owner and its database, and not the role of the service.
      await onServer(server, (client) => client.query("CREATE ROLE hub LOGIN PASSWORD 'secret'"));
      await onServer(server, (client) => client.query('CREATE DATABASE hub OWNER hub'));
      const database = Object.assign(new URL(server), { username: 'hub', password: 'secret', pathname: '/hub' }).href;
      const restore = drill.run(documented('"$HUB_DATABASE_URL" hub.dump'), { HUB_DATABASE_URL: database });
      await expect(restore).rejects.toThrow('role "hub_service" does not exist');
      expect(await rowsOf(database)).toBe(0); // nothing of the dump is left
      await onServer(server, (client) => client.query('DROP DATABASE hub'));
      await onServer(server, (client) => client.query('DROP ROLE hub'));
    });
    const restored = await drill.run(documented('"$HUB_DATABASE_URL" hub.dump'));
    await drill.start('hub');
    const names = await templatesOfHub();
    expect(missingIn(names, beforeDump.templates)).toEqual([]);
    expect(missingIn(names, drill.templates.acknowledged).length).toBeGreaterThan(0);

    // With the encryption keys of before, the signing secrets of webhooks are readable.
    await drill.good('hub', 'POST', `/admin/webhooks/${webhook.id}/test`);
    const message = await eventually('the test message has arrived', () => receiver.received[0]);
    verifyMessage(webhook.secret, message);

    const started = performance.now();
    const after = await sync();
    const seconds = (performance.now() - started) / 1000;
    expect(Date.parse(after.checked_at)).toBeLessThan(Date.parse(before.checked_at));
    expect(await templatesOfFleet()).toEqual(names);
    await drill.templates.writer();
    expect(await sync()).toMatchObject({ status: 'fresh', last_sync: { full: false, updated: 1 } });
    expect(await templatesOfFleet()).toEqual(await templatesOfHub());
    const rows = await rowsOf(drill.databases.hub);
    figure(
      `hub: ${rows} rows, restored in ${restored.seconds.toFixed(2)} s, the fleet converged in ${seconds.toFixed(2)} s`,
    );
  });

  test('a restored fleet has everything that was acknowledged before its dump, and converges', async () => {
    await drill.stop('fleet');
    await drill.moveToNewServer('fleet', async () => undefined);
    const restored = await drill.run(documented('"$FLEET_DATABASE_URL" fleet.dump'));
    const started = performance.now();
    await drill.start('fleet');
    const names = await namesIn(drill.databases.fleet, 'SELECT name FROM secrets');
    expect(missingIn(names, beforeDump.secrets)).toEqual([]);
    expect(missingIn(names, drill.secrets.acknowledged).length).toBeGreaterThan(0);
    expect(await changesAudit()).toBe(false);
    await sync();
    expect(await templatesOfFleet()).toEqual(await templatesOfHub());
    await drill.untilRunning(ids.kept);
    await drill.untilRunning(ids.doomed);
    const seconds = (performance.now() - started) / 1000;
    const rows = await rowsOf(drill.databases.fleet);
    figure(
      `fleet: ${rows} rows, restored in ${restored.seconds.toFixed(2)} s, started and converged in ${seconds.toFixed(2)} s`,
    );
  });

  test('orphans are listed, adopted and removed', async () => {
    await eventually('the orphans are listed', async () => (await orphans()).length === 3);
    const found = await orphans();
    const volume = found.find(({ kind }: { kind: string }) => kind === 'volume');
    expect(found.map(({ id }: { id: string }) => id).sort()).toEqual([ids.later, ids.unwanted, volume.id].sort());
    await drill.good('fleet', 'POST', `/hosts/${drill.hostId}/orphans/${volume.id}/adopt`, {});
    const adopted = await drill.run(documented('/adopt"'), { ORPHAN_ID: ids.later, VOLUME_ID: volume.id });
    expect(JSON.parse(adopted.output)).toMatchObject({ deployment: { id: ids.later } });
    await drill.untilRunning(ids.later);
    await drill.good('fleet', 'POST', `/hosts/${drill.hostId}/orphans/${ids.unwanted}/remove`);
    await eventually('no orphan is left', async () => (await orphans()).length === 0);
  });
});
