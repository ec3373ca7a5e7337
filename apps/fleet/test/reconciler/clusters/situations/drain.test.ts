// The drain of a node while a client sends requests to the Service of a deployment. Needs the test cluster of
// infra/cluster with two real nodes.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { byDepth, eventually, LONG_TEST_MS } from '@svc/testing';
import { describeWithCluster } from '@svc/testing/cluster';
import { cordon, drain, type Lab, startLab } from './lab.ts';
import { aProgram, checkedBy, type Place, type Shown, WAIT } from './places.ts';

/**
 * An HTTP server that answers for five seconds after SIGTERM: for that long, nodes can still send requests to a pod that
 * is about to end.
 */
const SERVER =
  'mkdir -p /tmp/www; echo ok > /tmp/www/index.html; httpd -f -p 8080 -h /tmp/www & trap "sleep 5; exit 0" TERM; while true; do sleep 1; done';
/** About 30 requests per second, each on a new connection. It prints the number of answers from time to time, and each failure. */
const CLIENT =
  'trap "exit 0" TERM; n=0; while true; do if printf "GET / HTTP/1.0\\r\\n\\r\\n" | nc -w 5 "$SERVER" 8080 | grep -q "200 OK"; then n=$((n+1)); [ $((n % 10)) -ne 0 ] || echo $n; else echo failed; fi; usleep 20000; done';
/** The requests before, between and after the drains. */
const REQUESTS = byDepth({ short: 100, full: 500, long: 5000 });

describeWithCluster('a drain under load', (cluster) => {
  let lab: Lab;
  let place: Place;
  let id: string;
  let nodes: readonly [string, string];

  beforeAll(async () => {
    lab = await startLab(cluster());
    const [one, other] = lab.nodes;
    if (one === undefined || other === undefined) throw new Error('the test needs a cluster with two real nodes');
    nodes = [one, other];
    place = await lab.aPlace();
    const given = { ...checkedBy('http:8080/'), ports: [{ containerPort: 8080 }] };
    id = await place.deploy(aProgram(SERVER, given), { replicas: 2 });
    await place.is(id, 'running');
  });
  afterAll(async () => {
    for (const node of lab?.nodes ?? []) await cordon(lab.kube, node, false);
    await place?.remove();
    await lab?.stop();
  });

  const nodesOf = ({ instances }: Shown) => instances.flatMap(({ node }) => node ?? []).sort();

  /** Starts a client on a node. `answered` waits for further answers. `failed` is the number of failures until now. */
  async function aClient(node: string) {
    const [service] = await place.objects(id, place.core('services'));
    const name = `client-${lab.aName()}`;
    const container = {
      ...{ name: 'client', image: 'docker.io/library/busybox:1.37', imagePullPolicy: 'IfNotPresent' },
      ...{ command: ['/bin/sh', '-c', CLIENT], env: [{ name: 'SERVER', value: service.spec.clusterIP }] },
    };
    const spec = { nodeName: node, containers: [container], terminationGracePeriodSeconds: 1, restartPolicy: 'Never' };
    await lab.kube('POST', place.core('pods'), { metadata: { name }, spec });
    const lines = async (): Promise<string[]> => {
      const { status, body } = await lab.kube.ask('GET', place.core(`pods/${name}/log`));
      return status === 200 ? String(body).trim().split('\n') : [];
    };
    const isNumber = (line: string) => /^\d+$/.test(line);
    const answers = async () => Math.max(0, ...(await lines()).filter(isNumber).map(Number));
    return {
      answered: async () => {
        const before = await answers();
        await eventually('further requests are answered', async () => (await answers()) >= before + REQUESTS, WAIT);
      },
      failed: async () => (await lines()).filter((line) => !isNumber(line)),
      stop: () => lab.kube('DELETE', place.core(`pods/${name}`)),
    };
  }

  test(
    'of one of two nodes fails no request',
    async () => {
      const [drained, other] = nodes;
      expect(nodesOf(await place.shown(id))).toEqual([...nodes].sort());
      const client = await aClient(other);
      await client.answered();
      expect(await drain(lab.kube, drained, place.namespace)).toHaveLength(1);
      await client.answered();
      const moved = await place.until(
        id,
        'runs on the other node',
        (shown) =>
          shown.phase === 'running' && nodesOf(shown).every((node) => node === other) && nodesOf(shown).length === 2,
      );
      expect(moved.message).toBe('2 of 2 up.');
      await client.answered();
      expect(await client.failed()).toEqual([]);
      await client.stop();
      await cordon(lab.kube, drained, false);
    },
    LONG_TEST_MS,
  );

  test(
    'of the node with both replicas evicts one after the other with a PodDisruptionBudget, and fails no request',
    async () => {
      const [other, drained] = nodes;
      expect(nodesOf(await place.shown(id))).toEqual([drained, drained]);
      // The fleet has budgets of policy/v1, from Kubernetes 1.21. This is the same one of the version before.
      const budget = { maxUnavailable: 1, selector: { matchLabels: { 'fleet/deployment': id } } };
      const budgets = `/apis/policy/v1beta1/namespaces/${place.namespace}/poddisruptionbudgets`;
      const { items } = await lab.kube('GET', budgets);
      if (items.length === 0) await lab.kube('POST', budgets, { metadata: { name: 'server' }, spec: budget });
      const isCounted = async () =>
        (await lab.kube('GET', budgets)).items.every(({ status }: Budget) => status?.currentHealthy === 2);
      await eventually('the budget counts both replicas', isCounted, WAIT);
      const client = await aClient(other);
      await client.answered();
      const evictions = await drain(lab.kube, drained, place.namespace);
      const refused = evictions.map(({ refused }) => refused).sort((a, b) => a - b);
      expect(refused).toHaveLength(2);
      expect(refused[0]).toBe(0);
      expect(refused[1]).toBeGreaterThan(0);
      await place.until(
        id,
        'runs on the other node',
        (shown) =>
          shown.phase === 'running' && nodesOf(shown).every((node) => node === other) && nodesOf(shown).length === 2,
      );
      await client.answered();
      expect(await client.failed()).toEqual([]);
      await client.stop();
      await cordon(lab.kube, drained, false);
    },
    LONG_TEST_MS,
  );
});

interface Budget {
  readonly status?: { readonly currentHealthy: number };
}
