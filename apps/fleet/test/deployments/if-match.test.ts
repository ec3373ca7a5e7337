import { byDepth } from '@svc/testing';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

const workload = { env_schema: [{ name: 'NAME' }] };
type Headers = Record<string, string>;

/** All operations that change a deployment. */
const changes = {
  update: (id: string, headers: Headers) => fleet.change(id, { env: { NAME: 'new' } }, headers),
  labels: (id: string, headers: Headers) => fleet.change(id, { labels: { team: 'ml' } }, headers),
  start: (id: string, headers: Headers) => fleet.ask(id, 'start', undefined, headers),
  stop: (id: string, headers: Headers) => fleet.ask(id, 'stop', undefined, headers),
  restart: (id: string, headers: Headers) => fleet.ask(id, 'restart', undefined, headers),
  scale: (id: string, headers: Headers) => fleet.ask(id, 'scale', { replicas: 2 }, headers),
  rollback: (id: string, headers: Headers) => fleet.ask(id, 'rollback', {}, headers),
  delete: (id: string, headers: Headers) => fleet.remove(id, headers),
};

/** A deployment at version 2. */
async function changedOnce() {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload, env: { NAME: 'old' } });
  await fleet.change(id, { env: { NAME: 'now' } });
  return id;
}

describe.each(Object.entries(changes))('the operation %s on a deployment', (_, act) => {
  test('with an outdated version gets 412 and changes nothing', async () => {
    const id = await changedOnce();
    const before = await fleet.contents();
    const { status, body } = await act(id, { 'If-Match': '"1"' });
    expect({ status, code: body.code }).toEqual({ status: 412, code: 'version_conflict' });
    expect(await fleet.contents()).toEqual(before);
  });

  test('with an invalid If-Match gets 400 and changes nothing', async () => {
    const id = await changedOnce();
    const before = await fleet.contents();
    expect((await act(id, { 'If-Match': '2' })).status).toBe(400);
    expect(await fleet.contents()).toEqual(before);
  });

  test('with the current ETag succeeds', async () => {
    const id = await changedOnce();
    const { headers } = await fleet.operator.get(`/api/v1/deployments/${id}`);
    expect((await act(id, { 'If-Match': headers.etag ?? '' })).status).toBe(200);
  });
});

const TIMES = byDepth({ short: 8, full: 50, long: 500 });

test(
  `one of two concurrent changes of the same version succeeds, ${TIMES} times`,
  async () => {
    await fleet.aHost();
    const { id } = await fleet.deployed({ workload });
    for (let round = 1; round <= TIMES; round++) {
      const { version, generation } = await fleet.deployment(id);
      const headers = { 'If-Match': `"${version}"` };
      const answers = await Promise.all([
        fleet.change(id, { env: { NAME: `one ${round}` } }, headers),
        fleet.change(id, { env: { NAME: `other ${round}` } }, headers),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      const winner = answers.find(({ status }) => status === 200)?.body.deployment;
      expect(winner).toMatchObject({ generation: generation + 1, version: version + 1 });
      expect(await fleet.deployment(id)).toEqual(winner);
    }
    expect(await fleet.client.deploymentRevision.count({ where: { deployment_id: id } })).toBe(TIMES + 1);
  },
  60_000 + 1000 * TIMES,
);
