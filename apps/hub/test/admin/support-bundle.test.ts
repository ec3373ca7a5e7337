// The operations for administrators that diagnose a running hub: what they find, and what a support bundle does not contain.
import path from 'node:path';
import { createDiagnosis, ok } from '@svc/http';
import { hubChecks } from '../../src/commands/doctor.ts';
import { anInstance, startWorld } from '../world.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/hub');
const world = await startWorld();
const instance = anInstance(world.databaseUrl, world.issuer, {
  diagnosis: createDiagnosis({
    service: 'hub',
    version: '1.2.3',
    settings: ['DATABASE_URL', 'SUPERADMIN_EMAILS'],
    checks: async () => ({
      checks: hubChecks({
        prismaDir,
        configuration: {
          check: { name: 'configuration', run: async () => ok('canary.operator@example.test is an administrator.') },
          config: () => ({
            DATABASE_URL: world.databaseUrl,
            MIGRATE_ON_START: true,
            DATABASE_CONNECTIONS: 16,
            OIDC_ISSUER: 'http://127.0.0.1:1',
            HOST: '127.0.0.1',
            PORT: 0,
          }),
        },
        database: () => world.database,
        send: () => Promise.reject(new Error('not reachable')),
      }),
      close: async () => undefined,
    }),
  }),
});
const admin = instance.api(await world.anAuthorization('admin'));
afterAll(async () => {
  await instance.stop();
  await world.stop();
});

const DOCTOR = '/api/v1/admin/doctor';
const BUNDLE = '/api/v1/admin/support-bundle';
const VARIABLE = 'canary-text-of-a-variable';

test('an administrator runs the checks of the command doctor in the running hub', async () => {
  const { status, body } = await admin.post(DOCTOR);
  expect(status).toBe(200);
  expect(body.report.checks.map(({ name }: { name: string }) => name)).toEqual([
    ...['configuration', 'database', 'schema', 'drift', 'privileges', 'connections'],
    ...['encryption keys', 'stored values', 'issuer', 'audit delivery', 'clock', 'port', 'disk'],
  ]);
  const failed = body.report.checks.filter(({ state }: { state: string }) => state === 'failed');
  expect(failed.map(({ name }: { name: string }) => name)).toEqual(['issuer']);
});

test('a bundle lists its own content, and has no addresses of people and no texts of variables', async () => {
  await world.aTemplate({ slug: 'planted', env: [{ name: 'GREETING', value: VARIABLE }], memory_request: '1' });
  const { status, body, text } = await admin.post(BUNDLE);
  expect(status).toBe(200);
  const { content, ...members } = body.bundle;
  const described = content.map(({ member }: { member: string }) => member);
  expect(Object.keys(members).sort()).toEqual([...described, 'service', 'version', 'created_at'].sort());
  expect(members.objects).toContainEqual({ kind: 'templates', state: 'shared', count: 1 });
  const found = members.doctor.checks.map(({ found: each }: { found: string }) => each).join('\n');
  expect(found).toContain('planted');
  expect(found).toContain('[address]');
  for (const canary of [VARIABLE, '@example.test']) expect(text).not.toContain(canary);
});

test.each([DOCTOR, BUNDLE])('%s is for administrators only', async (operation) => {
  const organization = await world.anOrganization();
  const callers = [
    instance.api(),
    instance.api(`Bearer ${organization.key}`),
    instance.api(await world.anAuthorization('user')),
  ];
  const codes = await Promise.all(callers.map(async (caller) => (await caller.post(operation)).body.code));
  expect(codes).toEqual(['unauthenticated', 'insufficient_scope', 'insufficient_scope']);
});
