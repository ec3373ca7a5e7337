import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { keepWatching } from '../../../src/engines/kubernetes/watch.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, ending, running, until } from './world.ts';

afterEach(endAll);

const WATCHES = 3;

/** A watch on a cluster, with what it has told. */
function watching(server: ApiServer, timing = {}) {
  const told: string[] = [];
  const rounds = keepWatching(clientOf(server, {}, { watchAgain: 2000, ...timing }), (id) => told.push(id));
  ending.unshift(rounds.stop);
  const hears = async (id: string, change: () => unknown) => {
    told.length = 0;
    await change();
    await until(() => told.includes(id));
  };
  return { rounds, told, hears };
}

const ready = (server: ApiServer) => until(() => server.watchers.count === WATCHES);
const lists = ({ requests }: ApiServer) => requests.filter(({ query }) => query.limit !== undefined).length;
const watches = ({ requests }: ApiServer) => requests.filter(({ query }) => query.watch === 'true');

describe('who watches a cluster', () => {
  test('hears of deployments, jobs and pods of the fleet that change, and of nothing else', async () => {
    const server = await anApiServer();
    const { told } = watching(server);
    await ready(server);
    const one = aDeployment();
    const two = aDeployment({ kind: 'job' });
    const client = clientOf(server);
    server.put('pods', { metadata: { name: 'a-strangers', labels: { 'fleet/deployment': 'x' } } });
    await pass(client, running(one.manifest()), one.fence());
    await until(() => told.includes(one.id));
    await pass(client, running(two.manifest()), two.fence());
    await until(() => told.includes(two.id));
    expect(new Set(told)).toEqual(new Set([one.id, two.id]));
  });

  test('is sent no more than the metadata of what changes', async () => {
    const server = await anApiServer();
    watching(server);
    await ready(server);
    for (const { headers, query } of watches(server)) {
      expect(headers.accept).toMatch(/as=PartialObjectMetadata;/);
      expect(query).toMatchObject({ allowWatchBookmarks: 'true', resourceVersion: expect.stringMatching(/^\d+$/) });
    }
  });

  test('hears of nothing that was there before, until that changes', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    await pass(clientOf(server), running(it.manifest()), it.fence());
    const { told, hears } = watching(server);
    await ready(server);
    expect(told).toEqual([]);
    await hears(it.id, () => server.drop('pods', server.objects('pods')[0]?.metadata.name ?? ''));
  });

  test('goes on where a broken connection left off, without a list', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const labels = { 'fleet/deployment': it.id, 'app.kubernetes.io/managed-by': 'fleet' };
    const { hears } = watching(server);
    await ready(server);
    await hears(it.id, () => {
      server.watchers.drop();
      server.put('pods', { metadata: { name: 'web-1', labels } }); // while nobody watches
    });
    expect(lists(server)).toBe(WATCHES);
  });

  test('goes on from the last bookmark', async () => {
    const server = await anApiServer();
    watching(server);
    await ready(server);
    server.put('namespaces', { metadata: { name: 'another' } });
    server.watchers.bookmark();
    const version = Math.max(...server.objects('namespaces').map(({ metadata }) => Number(metadata.resourceVersion)));
    await new Promise((resolve) => setTimeout(resolve, 50)); // let it be heard
    server.watchers.drop();
    await until(() => watches(server).length === 2 * WATCHES);
    expect(
      watches(server)
        .slice(WATCHES)
        .map(({ query }) => query.resourceVersion),
    ).toEqual(Array(WATCHES).fill(String(version)));
  });

  test('lists anew where the cluster has forgotten, and takes all that is there for changed', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    await pass(clientOf(server), running(it.manifest()), it.fence());
    const { told, hears } = watching(server);
    await ready(server);
    server.put('namespaces', { metadata: { name: 'another' } });
    server.forget();
    server.watchers.drop();
    await until(() => lists(server) === 2 * WATCHES && told.includes(it.id));
    await ready(server);
    await hears(it.id, () => server.drop('pods', server.objects('pods')[0]?.metadata.name ?? ''));
  });

  test('tries again, whatever is answered', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    await pass(clientOf(server), running(it.manifest()), it.fence());
    const answers = [
      'hang',
      'reset',
      { status: 200, body: 'no JSON' },
      { status: 401, body: '' },
      { status: 503, body: '' },
    ] as const;
    let count = 0;
    server.meddle(() => {
      count += 1;
      return answers[count];
    });
    const { hears } = watching(server, { answer: 100, watchAgain: 500 });
    await ready(server);
    const before = watches(server).length;
    server.watchers.say('no JSON\n');
    await until(() => watches(server).length === before + WATCHES);
    await ready(server);
    await hears(it.id, () => server.drop('pods', server.objects('pods')[0]?.metadata.name ?? ''));
  });

  test('begins anew where nothing is heard for too long', async () => {
    const server = await anApiServer();
    watching(server, { watch: 100, watchAgain: 500 });
    await until(() => watches(server).length > WATCHES);
  });

  test('does not hammer on a cluster that always says no', async () => {
    const server = await anApiServer();
    server.forbidden.add('watch pods').add('watch jobs').add('watch deployments');
    watching(server, { watchAgain: 6_000_000 });
    await until(() => watches(server).length === WATCHES);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(watches(server)).toHaveLength(WATCHES);
  });

  test('ends when told to, and tells nothing afterwards', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const { rounds, told } = watching(server);
    await ready(server);
    await rounds.stop();
    await until(() => server.watchers.count === 0);
    await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(told).toEqual([]);
    expect(watches(server)).toHaveLength(WATCHES);
  });
});
