// The operations for admins that diagnose a running fleet: what they find, and what a support bundle does not contain.
import path from 'node:path';
import { createDiagnosis, ok } from '@svc/http';
import { fleetChecks } from '../src/commands/doctor.ts';
import { startWorld } from './world.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../prisma/fleet');

const unused = { send: () => Promise.reject(new Error('no other service is configured')), refusalOf: () => undefined };
const routes = { trusted: unused, restricted: unused };
const world = await startWorld();
const { client } = world.database;
const replica = world.aReplica({
  diagnosis: createDiagnosis({
    service: 'fleet',
    version: '1.2.3',
    settings: ['DATABASE_URL', 'ENCRYPTION_KEYS_FILE'],
    checks: async () => ({
      checks: fleetChecks({
        prismaDir,
        configuration: {
          check: { name: 'configuration', run: async () => ok('All settings are valid.') },
          config: () => ({
            DATABASE_URL: world.databaseUrl,
            MIGRATE_ON_START: true,
            DATABASE_CONNECTIONS: 16,
            OUTBOUND_ALLOW: new Set(),
            HOST: '127.0.0.1',
            PORT: 0,
          }),
        },
        parts: () => ({ database: world.database, sealer: world.sealer, settings: world.services.settings }),
        toHub: () => routes,
        toProvider: () => routes,
      }),
      close: async () => undefined,
    }),
  }),
});
const admin = replica.api(`Bearer ${(await world.aToken({ role: 'admin' })).secret}`);
afterAll(() => world.stop());

const DOCTOR = '/api/v1/doctor';
const BUNDLE = '/api/v1/support-bundle';

/** Texts that a fleet has, and a bundle must not have. */
const canaries = {
  address: 'canary.person@example.test',
  variable: 'canary-text-of-a-variable',
  label: 'canary-label',
  secret: 'canary-value-of-a-secret',
  event: 'canary-message-of-an-event',
};

async function plant(): Promise<void> {
  await world.aUser('viewer', { email: canaries.address });
  const spec = { image_name: 'nginx', env: [{ name: 'GREETING', value: canaries.variable }] };
  const labels = { [canaries.label]: canaries.label };
  const workload = await admin.post('/api/v1/workloads', { name: 'planted', labels, ...spec });
  expect(workload.status).toBe(201);
  const values = { password: canaries.secret };
  expect((await admin.post('/api/v1/secrets', { name: 'planted', labels, values })).status).toBe(201);
  await client.event.create({
    data: {
      id: crypto.randomUUID(),
      kind: 'hosts',
      object_id: crypto.randomUUID(),
      name: 'planted',
      severity: 'error',
      reason: 'Unreachable',
      message: canaries.event,
    },
  });
  // A value that can no longer be written, so that a check finds the workload.
  const { id } = workload.body.workload;
  await client.$executeRaw`
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, secret_names, created_by)
    SELECT workload_id, 2, spec || '{"memory_request": "1"}', overrides, secret_names, created_by
    FROM workload_revisions WHERE workload_id = ${id}::uuid`;
  await client.workload.update({ where: { id }, data: { revision: 2 } });
}

test('an admin runs the checks of the command doctor in the running fleet', async () => {
  const { status, body } = await admin.post(DOCTOR);
  expect(status).toBe(200);
  expect(body.report.checks.map(({ name }: { name: string }) => name)).toEqual([
    ...['configuration', 'database', 'schema', 'drift', 'privileges', 'connections'],
    ...[
      'encryption keys',
      'stored values',
      'secrets',
      'isolation',
      'advisories',
      'hub',
      'issuer',
      'engines',
      'audit delivery',
      'clock',
      'port',
      'disk',
    ],
  ]);
  expect(body.report.checks.filter(({ state }: { state: string }) => state === 'failed')).toEqual([]);
});

test('a bundle lists its own content, and has no addresses, texts of variables, labels, values or messages', async () => {
  await plant();
  const { status, body, text } = await admin.post(BUNDLE);
  expect(status).toBe(200);
  const { content, ...members } = body.bundle;
  const described = content.map(({ member }: { member: string }) => member);
  expect(Object.keys(members).sort()).toEqual([...described, 'service', 'version', 'created_at'].sort());
  // The bundle knows the planted objects.
  const { objects, events, settings, database, doctor } = members;
  expect(objects).toContainEqual({ kind: 'workloads', state: 'all', count: 1 });
  expect(objects).toContainEqual({ kind: 'users', state: 'local', count: 1 });
  expect(events).toMatchObject([{ reason: 'Unreachable', severity: 'error', count: 1 }]);
  expect(settings).toEqual(['DATABASE_URL', 'ENCRYPTION_KEYS_FILE']);
  expect(database.tables.find(({ name }: { name: string }) => name === 'deployments')).toBeDefined();
  const stored = doctor.checks.find(({ name }: { name: string }) => name === 'stored values');
  expect(stored).toMatchObject({ state: 'warning', found: expect.stringContaining('planted') });
  for (const canary of Object.values(canaries)) expect(text).not.toContain(canary);
});

test('what cannot be read is null', async () => {
  await client.$executeRaw`ALTER TABLE events RENAME TO events_away`;
  const { status, body } = await admin.post(BUNDLE);
  await client.$executeRaw`ALTER TABLE events_away RENAME TO events`;
  expect({ status, events: body.bundle.events }).toEqual({ status: 200, events: null });
  expect(body.bundle.objects).not.toBeNull();
  const drift = body.bundle.doctor.checks.find(({ name }: { name: string }) => name === 'drift');
  expect(drift.state).toBe('failed');
});

test.each([DOCTOR, BUNDLE])('%s is for admins only', async (operation) => {
  for (const role of ['viewer', 'operator'] as const) {
    const caller = replica.api(`Bearer ${(await world.aToken({ role })).secret}`);
    expect((await caller.post(operation)).body.code).toBe('insufficient_scope');
  }
});

test('the operations accept no targets', async () => {
  const { report } = (await admin.post(DOCTOR, { endpoint: 'tcp://192.0.2.1:2375' })).body;
  expect(JSON.stringify(report)).not.toContain('192.0.2.1');
});
