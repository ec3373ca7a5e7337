import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { watchDeployments } from '../../../src/engines/kubernetes/watch.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, ending, running } from './world.ts';

afterEach(endAll);

const WATCHES = 3;

/** A watch on a cluster, with the ids that it has reported. */
function watching(server: ApiServer, timing = {}) {
  const reported: string[] = [];
  const rounds = watchDeployments(clientOf(server, {}, { watchRetryLimit: 2000, ...timing }), (id) =>
    reported.push(id),
  );
  ending.unshift(rounds.stop);
  const reportsAfter = async (id: string, change: () => unknown) => {
    reported.length = 0;
    await change();
    await eventually('the change is reported', () => reported.includes(id));
  };
  return { rounds, reported, reportsAfter };
}

const ready = (server: ApiServer) =>
  eventually('all watches are open', () => server.watchers.count, { until: (count) => count === WATCHES });
const lists = ({ requests }: ApiServer) => requests.filter(({ query }) => query.limit !== undefined).length;
const watches = ({ requests }: ApiServer) => requests.filter(({ query }) => query.watch === 'true');

describe('a watch on a cluster', () => {
  test('reports changed deployments, jobs and pods of the fleet, and no others', async () => {
    const server = await anApiServer();
    const { reported } = watching(server);
    await ready(server);
    const one = aDeployment();
    const two = aDeployment({ kind: 'job' });
    const client = clientOf(server);
    server.put('pods', { metadata: { name: 'a-strangers', labels: { 'fleet/deployment': 'x' } } });
    await reconcile(client, running(one.manifest()), one.fence());
    await eventually('the first change is reported', () => reported.includes(one.id));
    await reconcile(client, running(two.manifest()), two.fence());
    await eventually('the second change is reported', () => reported.includes(two.id));
    expect(new Set(reported)).toEqual(new Set([one.id, two.id]));
  });

  test('receives only the metadata of changed objects', async () => {
    const server = await anApiServer();
    watching(server);
    await ready(server);
    for (const { headers, query } of watches(server)) {
      expect(headers.accept).toMatch(/as=PartialObjectMetadata;/);
      expect(query).toMatchObject({ allowWatchBookmarks: 'true', resourceVersion: expect.stringMatching(/^\d+$/) });
    }
  });

  test('does not report existing objects until they change', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    const { reported, reportsAfter } = watching(server);
    await ready(server);
    expect(reported).toEqual([]);
    await reportsAfter(deployment.id, () => server.drop('pods', server.objects('pods')[0]?.metadata.name ?? ''));
  });

  test('continues after a broken connection without a list', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const labels = { 'fleet/deployment': deployment.id, 'app.kubernetes.io/managed-by': 'fleet' };
    const { reportsAfter } = watching(server);
    await ready(server);
    await reportsAfter(deployment.id, () => {
      server.watchers.drop();
      server.put('pods', { metadata: { name: 'web-1', labels } }); // while there is no watch
    });
    expect(lists(server)).toBe(WATCHES);
  });

  test('continues from the last bookmark', async () => {
    const server = await anApiServer();
    watching(server);
    await ready(server);
    server.put('namespaces', { metadata: { name: 'another' } });
    server.watchers.bookmark();
    const version = Math.max(...server.objects('namespaces').map(({ metadata }) => Number(metadata.resourceVersion)));
    server.watchers.end(); // the bookmark arrives before the end
    await eventually('all watches are requested', () => watches(server).length, {
      until: (count) => count === 2 * WATCHES,
    });
    expect(
      watches(server)
        .slice(WATCHES)
        .map(({ query }) => query.resourceVersion),
    ).toEqual(Array(WATCHES).fill(String(version)));
  });

  test('lists again after its resource version has expired, and reports all objects as changed', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    const { reported, reportsAfter } = watching(server);
    await ready(server);
    server.put('namespaces', { metadata: { name: 'another' } });
    server.forget();
    server.watchers.drop();
    await eventually(
      'all lists are requested again, and the deployment is reported',
      () => lists(server) === 2 * WATCHES && reported.includes(deployment.id),
    );
    await ready(server);
    await reportsAfter(deployment.id, () => server.drop('pods', server.objects('pods')[0]?.metadata.name ?? ''));
  });

  test('retries after any response', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    const answers = [
      'hang',
      'reset',
      { status: 200, body: 'not JSON' },
      { status: 401, body: '' },
      { status: 503, body: '' },
    ] as const;
    let count = 0;
    server.inject(() => {
      count += 1;
      return answers[count];
    });
    const { reportsAfter } = watching(server, { answer: 100, watchRetryLimit: 500 });
    await ready(server);
    const before = watches(server).length;
    server.watchers.say('not JSON\n');
    await eventually('all watches are requested', () => watches(server).length, {
      until: (count) => count === before + WATCHES,
    });
    await ready(server);
    await reportsAfter(deployment.id, () => server.drop('pods', server.objects('pods')[0]?.metadata.name ?? ''));
  });

  test('connects again when it receives nothing for too long', async () => {
    const server = await anApiServer();
    watching(server, { watch: 100, watchRetryLimit: 500 });
    await eventually('a watch is requested again', () => watches(server).length > WATCHES);
  });

  test('does not retry at once when the cluster forbids it', async () => {
    const server = await anApiServer();
    server.forbidden.add('watch pods').add('watch jobs').add('watch deployments');
    watching(server, { watchRetryLimit: 6_000_000 });
    await eventually('all watches are requested', () => watches(server).length, {
      until: (count) => count === WATCHES,
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(watches(server)).toHaveLength(WATCHES);
  });

  test('ends when stopped, and reports nothing afterwards', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const { rounds, reported } = watching(server);
    await ready(server);
    await rounds.stop();
    await eventually('all watches are closed', () => server.watchers.count === 0);
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(reported).toEqual([]);
    expect(watches(server)).toHaveLength(WATCHES);
  });
});
