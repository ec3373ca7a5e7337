import { afterEach, describe, expect, test } from '@jest/globals';
import type { HealthCheck } from '../../src/index.ts';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

const healthOf = (checks: readonly HealthCheck[], stopping = false) => ({
  health: { check: async () => checks, stopping },
});

const database: HealthCheck = { name: 'database', state: 'ok' };
const hub: HealthCheck = { name: 'hub', state: 'degraded', detail: 'no response for 5 minutes' };
const provider: HealthCheck = { name: 'identity provider', state: 'unknown' };
const migrations: HealthCheck = { name: 'migrations', state: 'failed', detail: '2 are not applied' };

describe('readiness', () => {
  test.each<[string, number, readonly HealthCheck[]]>([
    ['ready', 200, []],
    ['ready', 200, [database]],
    ['ready', 200, [database, provider]],
    ['degraded', 200, [database, hub]],
    ['unready', 503, [database, migrations]],
    ['unready', 503, [migrations, hub]],
  ])('is "%s" with %p, and lists the checks', async (status, code, checks) => {
    const { api } = await startService(healthOf(checks));
    const { body, headers } = await api.get('/readyz').expect(code);
    expect(body).toEqual({ status, version: '1.2.3', checks });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('is "unready" after the process was told to stop, also if all checks succeed', async () => {
    const { api } = await startService(healthOf([database], true));
    const { body } = await api.get('/readyz').expect(503);
    expect(body).toEqual({
      status: 'unready',
      version: '1.2.3',
      checks: [{ name: 'process', state: 'failed', detail: 'stopping' }],
    });
  });

  test('does not show the reason, which is for the log', async () => {
    const { api } = await startService(healthOf([{ ...migrations, reason: 'connect ECONNREFUSED 10.0.0.7:5432' }]));
    const { body } = await api.get('/readyz').expect(503);
    expect(body.checks).toEqual([migrations]);
  });

  test('is 500 without internal details if the checks reject', async () => {
    const health = { check: () => Promise.reject(new Error('10.0.0.7')), stopping: false };
    const { api } = await startService({ health });
    expect((await api.get('/readyz').expect(500)).text).not.toContain('10.0.0.7');
  });
});

test.each([false, true])('an unready process is alive (stopping: %p)', async (stopping) => {
  const { api } = await startService(healthOf([migrations], stopping));
  expect((await api.get('/healthz').expect(200)).body).toEqual({ status: 'alive' });
});
