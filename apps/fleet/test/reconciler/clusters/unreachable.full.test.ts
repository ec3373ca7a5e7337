import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { KEYS } from '../../../src/render/labels.ts';
import { type ApiServer, startApiServer } from '../../engines/kubernetes/api-server.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import { recordingClient } from '../canary-secrets.ts';
import { type ChaosProcesses, startChaosProcesses } from '../chaos/processes.ts';
import { type ClusterProxy, startClusterProxy } from './proxy.ts';
import { wrongIn } from './recorder.ts';
import { aNode, ownedBy, PLAIN } from './world.ts';

const REPLICAS = ['a', 'b'];
/** Timeouts that end a hanging request soon. */
const timings = {
  ...SHORT_TIMINGS.reconciler,
  kubernetes: { ...SHORT_TIMINGS.reconciler.kubernetes, answer: 6000, change: 6000 },
};
/** More deployments than both processes together have workers. */
const MANY = 20;
/** Makes new deployments due only when `due_at` is changed. */
const HOLD = `
  CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.due_at := now() + interval '1 day'; RETURN NEW; END $$;
  CREATE TRIGGER hold BEFORE INSERT ON deployments FOR EACH ROW EXECUTE FUNCTION hold()`;

describe('with two fleet processes,', () => {
  let processes: ChaosProcesses;
  let server: ApiServer;
  let nearby: ApiServer;
  let proxy: ClusterProxy;
  let replicas: ReturnType<typeof recordingClient>[];
  let far: { readonly target: { readonly cluster_id: string } };
  let near: typeof far;
  let id: string;

  beforeAll(async () => {
    server = await startApiServer();
    nearby = await startApiServer();
    for (const each of [server, nearby]) each.put('nodes', aNode('node-1'));
    proxy = await startClusterProxy(server);
    processes = await startChaosProcesses({ environment: { OUTBOUND_ALLOW: 'loopback' }, names: REPLICAS, timings });
    replicas = processes.urls().map((url) => recordingClient(url, processes.secret));
    far = await registered('far', proxy);
    near = await registered('near', nearby);
    id = await by(0).deployed('there', PLAIN, far);
    await by(1).is(id, 'running');
  });
  afterAll(async () => {
    await processes?.stop();
    await proxy?.stop();
    await server?.stop();
    await nearby?.stop();
  });

  const by = (index: number) => {
    const replica = replicas[index];
    if (!replica) throw new Error(`there is no replica ${index}`);
    return replica;
  };
  const check = async (cluster: string, replica = 0) =>
    (await by(replica).request('POST', `clusters/${cluster}/check`)).body.cluster;
  const registered = async (name: string, { url, ca, token }: Pick<ApiServer, 'url' | 'ca' | 'token'>) => {
    const body = { name, server: url, ca_certificate: ca, auth: { kind: 'token', token } };
    const made = await by(0).request('POST', 'clusters', body);
    expect(await check(made.body.cluster.id)).toMatchObject({ reachability: 'online' });
    return { target: { cluster_id: made.body.cluster.id } };
  };
  const restart = (id: string, replica: number) => by(replica).request('POST', `deployments/${id}/restart`, {});

  test('deployments on an unreachable cluster keep their state with a condition until it is reachable again', async () => {
    await proxy.stopListening();
    expect(await check(far.target.cluster_id)).toMatchObject({
      reachability: 'unreachable',
      message: 'The connection to its endpoint was refused.',
    });
    for (const replica of replicas) {
      expect(await replica.shown(id)).toMatchObject({
        phase: 'running',
        reason: null,
        conditions: [{ type: 'TargetReachable', status: 'False', reason: 'TargetUnreachable' }],
      });
    }
    const [name = ''] = server.objects('deployments').map(({ metadata }) => metadata.name);
    server.drop('deployments', name);
    expect(await restart(id, 1)).toMatchObject({ status: 200 });
    const meanwhile = await by(0).deployed('meanwhile', PLAIN, near);
    await by(1).is(meanwhile, 'running');
    expect(await by(0).shown(id)).toMatchObject({ phase: 'pending', conditions: [{ status: 'False' }] });
    expect(ownedBy(server, id)).toEqual([]);
    await proxy.startListening();
    expect(await check(far.target.cluster_id, 1)).toMatchObject({ reachability: 'online', message: '' });
    await by(0).is(id, 'running');
    expect((await by(1).shown(id)).conditions).toEqual([]);
    expect(ownedBy(server, id)).toHaveLength(3); // a Deployment, a ReplicaSet and a pod
    expect(ownedBy(nearby, id)).toEqual([]);
  });

  test('each process reconciles deployments on a cluster while the other one is frozen', async () => {
    for (const [frozen, other] of [
      [0, 1],
      [1, 0],
    ] as const) {
      processes.freeze(frozen);
      const alone = await by(other).deployed(`alone-${other}`, PLAIN, far);
      await by(other).is(alone, 'running');
      await by(other).request('DELETE', `deployments/${alone}`);
      await eventually(
        'the deployment is deleted',
        async () => (await by(other).request('GET', `deployments/${alone}`)).status === 404,
      );
      expect(ownedBy(server, alone)).toEqual([]);
      processes.wake(frozen);
    }
  });

  test('requests without a response end at the timeout, and do not delay deployments on another cluster', async () => {
    await processes.query(HOLD);
    const workload_id = await by(0).aWorkload('waits', PLAIN);
    const waiting: string[] = [];
    for (let number = 0; number < MANY; number += 1) {
      waiting.push(await by(number % 2).create({ name: `waits-${number}`, workload_id, ...far }));
    }
    await processes.query('DROP FUNCTION hold CASCADE');
    const underWay = proxy.underWay();
    const hung = proxy.seen.hangs;
    proxy.setFault(() => 'hangs');
    await processes.query("UPDATE deployments SET due_at = now() WHERE name LIKE 'waits-%'");
    await eventually('the cluster receives a request', async () => proxy.seen.hangs > hung);
    const checked = check(far.target.cluster_id);
    const here = await by(0).deployed('here', PLAIN, near);
    await by(1).is(here, 'running');
    expect(proxy.underWay() - underWay).toBe(proxy.seen.hangs - hung); // no request has ended yet
    expect(await checked).toMatchObject({ reachability: 'unreachable', message: 'It did not respond in time.' });
    proxy.setFault(() => 'passed');
    await proxy.stopListening(); // ends the requests that still hang
    await proxy.startListening();
    expect(await check(far.target.cluster_id)).toMatchObject({ reachability: 'online' });
    for (const each of waiting) await by(1).is(each, 'running');
    const names = server.objects('deployments').map(({ metadata }) => metadata.labels?.[KEYS.deployment]);
    expect(names.sort()).toEqual([id, ...waiting].sort());
    expect(wrongIn([...server.store.changes, ...nearby.store.changes])).toEqual([]);
  });

  test('a request that a cluster receives late is corrected afterwards', async () => {
    let late = 0;
    proxy.setFault((request) => (/^PATCH .*\/deployments\/late-/.test(request) && ++late === 1 ? 'late' : 'passed'));
    const first = await by(0).deployed('late', PLAIN, far);
    await eventually('the request is held back', async () => proxy.seen.late === 1);
    await restart(first, 1);
    await by(0).is(first, 'running');
    const generation = () =>
      server.objects('deployments').find(({ metadata }) => metadata.labels?.[KEYS.deployment] === first)?.metadata
        .annotations?.[KEYS.generation];
    expect(generation()).toBe('2');
    proxy.releaseLate();
    await eventually('the late request has arrived', async () => wrongIn(server.store.changes).length > 0);
    await eventually('the object is corrected', async () => generation() === '2');
    await by(1).is(first, 'running');
    await by(0).request('DELETE', `deployments/${first}`);
    await eventually('the deployment is gone', async () => ownedBy(server, first).length === 0);
  });
});
