// The replacement of the encryption key with two replicas, as docs/sign-in.md describes it.
import { displayPrefix, newSecretToken } from '@svc/auth';
import { aKey, startProcessWorld } from '../process-world.ts';

const former = aKey('former');
const next = aKey('next');

const world = await startProcessWorld({ isMigrated: true });
afterEach(world.endAll);
afterAll(() => world.database.drop());

type Fleet = Awaited<ReturnType<typeof world.startFleet>>;
const withKeys = (...keys: string[]) => ({ ENCRYPTION_KEYS: keys.join(), OUTBOUND_ALLOW: 'http,loopback' });
interface Readiness {
  readonly checks: readonly { readonly name: string; readonly state: string; readonly detail?: string }[];
}
const readiness = async ({ url }: Fleet) => {
  const response = await fetch(`${url}/readyz`);
  const body: Readiness = JSON.parse(await response.text());
  return { status: response.status, body };
};

test('a replica that lacks the key of another replica is not ready, and names the key', async () => {
  const old = await world.startFleet(withKeys(former));
  expect(await readiness(old)).toMatchObject({ status: 200 });
  const started = await world.startFleet(withKeys(next, former));
  expect(await readiness(old)).toMatchObject({
    status: 503,
    body: {
      checks: expect.arrayContaining([
        { name: 'encryption keys', state: 'failed', detail: expect.stringContaining('no key "next"') },
      ]),
    },
  });
  expect(await readiness(started)).toMatchObject({ status: 200 });
  await world.query('DELETE FROM encryption_canary; DELETE FROM signing_keys'); // as in a new database
});

test('with the documented steps, both replicas stay ready and read each value, also of the other replica', async () => {
  const replicas = [await world.startFleet(withKeys(former)), await world.startFleet(withKeys(former))];
  const { secret: token } = await world.createToken('admin');
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  /** Stores a value through one replica, and uses it through each. */
  const check = async (through: Fleet) => {
    const api_key = newSecretToken('svcc_');
    const body = JSON.stringify({ url: 'http://127.0.0.1:1', api_key });
    const stored = await fetch(`${through.url}/api/v1/settings/hub`, { method: 'PUT', headers, body });
    expect(stored.status).toBe(200);
    for (const replica of replicas) {
      expect((await readiness(replica)).body.checks).toContainEqual({ name: 'encryption keys', state: 'ok' });
      const settings = await replica.get('/api/v1/settings/hub', token);
      expect(await settings.json()).toMatchObject({ api_key_prefix: displayPrefix(api_key) });
    }
  };
  const roll = async (keys: Record<string, string>) => {
    for (const index of [0, 1]) {
      const before = replicas[index];
      if (before) await world.stop(before);
      replicas[index] = await world.startFleet(keys);
      for (const replica of replicas) await check(replica);
    }
  };
  await roll(withKeys(former, next));
  await roll(withKeys(next, former));
  const rotation = world.run(['rotate-keys'], { DATABASE_URL: world.database.url, ...withKeys(next, former) });
  expect(await rotation.ended).toBe(0);
  await roll(withKeys(next));
});
