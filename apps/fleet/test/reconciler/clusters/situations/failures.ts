// Situations that disturb the whole test cluster. They run one at a time.
import { expect } from '@jest/globals';
import { eventually } from '@svc/testing';
import { cordon, drain, type Lab, taint } from './lab.ts';
import { deleted, type Outcome } from './outcome.ts';
import { aProgram, type Place, type Shown, WAIT } from './places.ts';
import { type Situation, situation } from './situation.ts';

const HOST = 'kubernetes.io/hostname';
const isUnreachable = ({ conditions }: Shown): boolean =>
  conditions.some(({ type, status }) => type === 'TargetReachable' && status === 'False');

async function running(place: Place, given: object = {}): Promise<string> {
  const id = await place.deploy(aProgram(undefined, { ...given }));
  await place.is(id, 'running');
  return id;
}

/** Does work while a program of the cluster is stopped. */
async function without<T>({ control, kube }: Lab, program: string, work: () => Promise<T>): Promise<T> {
  await control(program, 'stop');
  try {
    return await work();
  } finally {
    await control(program, 'start');
    const isReady = () =>
      kube.ask('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      );
    await eventually('the API server is ready', isReady, WAIT);
  }
}

const online = (place: Place): Promise<unknown> =>
  eventually('the cluster is online', async () => (await place.clusterOutcome()).phase === 'online', WAIT);

/** Waits until the fleet has found that the cluster is away. */
const offline = (place: Place): Promise<unknown> =>
  eventually('the cluster is unreachable', async () => (await place.clusterOutcome()).phase === 'unreachable', WAIT);

/** What a deployment on a node shows while something is wrong with the node. */
async function onNode(
  lab: Lab,
  harm: (node: string) => Promise<void>,
  repair: (node: string) => Promise<void>,
): Promise<Outcome> {
  const node = lab.nodes.at(-1) ?? '';
  const place = await lab.aPlace();
  const id = await running(place, { node_selector: { [HOST]: node } });
  await harm(node);
  try {
    const names = ({ phase, message }: Shown) => phase === 'degraded' && message.includes(`The node ${node} is down`);
    return await place.outcome(await place.until(id, 'names the node', names));
  } finally {
    await repair(node);
    await place.is(id, 'running');
  }
}

export const failures: readonly Situation[] = [
  situation(
    'a restart of the API server',
    'stop it while a deployment runs, then start it',
    { phase: 'running', says: /TargetReachable=False/ },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      const outcome = await without(lab, 'kube-apiserver', async () => {
        await offline(place);
        return place.outcome(await place.until(id, 'is not reachable', isUnreachable));
      });
      await online(place);
      await place.until(id, 'is reachable', (shown) => shown.phase === 'running' && !isUnreachable(shown));
      return { ...outcome, after: 'running, with the same pod' };
    },
  ),
  situation(
    'an update while the API server is away',
    'change the workload, then start the API server',
    { phase: 'pending', reason: 'TargetUnreachable', remedy: /Waiting for the cluster .* to become reachable/ },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      const outcome = await without(lab, 'kube-apiserver', async () => {
        await offline(place);
        await place.revise(id, { env: [{ name: 'ROUND', value: '2' }] });
        return place.outcome(await place.until(id, 'waits', ({ reason }) => reason === 'TargetUnreachable'));
      });
      await online(place);
      await place.is(id, 'running');
      const [deployment] = await place.objects(id, place.apps('deployments'));
      expect(deployment.spec.template.spec.containers[0].env).toContainEqual({ name: 'ROUND', value: '2' });
      return { ...outcome, after: 'running with the update' };
    },
  ),
  situation(
    'a deletion while the API server is away',
    'delete, then start the API server',
    { phase: 'deleting', reason: 'TargetUnreachable', remedy: /delete and abandon it/ },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      const outcome = await without(lab, 'kube-apiserver', async () => {
        await offline(place);
        await lab.fleet.good(lab.fleet.api.delete(`/api/v1/deployments/${id}`));
        return place.outcome(await place.until(id, 'waits', ({ reason }) => reason === 'TargetUnreachable'));
      });
      await online(place);
      const isGone = async () => (await lab.fleet.api.get(`/api/v1/deployments/${id}`)).status === 404;
      await eventually('it is gone', isGone, WAIT);
      expect(await place.objects(id, place.core('pods'))).toEqual([]);
      return { ...outcome, after: 'deleted' };
    },
  ),
  situation(
    'a controller manager that is stopped',
    'deploy; then start it',
    {
      phase: 'starting',
      says: /The controllers of the cluster have not observed its last change/,
      remedy: /check that they run/,
    },
    async (lab) => {
      const place = await lab.aPlace();
      let id = '';
      const outcome = await without(lab, 'kube-controller-manager', async () => {
        id = await place.deploy(aProgram());
        const isExplained = ({ message }: Shown) => /have not observed/.test(message);
        return place.outcome(await place.until(id, 'explains what it waits for', isExplained));
      });
      await place.is(id, 'running');
      return { ...outcome, after: 'running' };
    },
  ),
  situation(
    'a scheduler that is stopped',
    'deploy; then start it',
    { phase: 'starting', says: /has not assigned it to a node/, remedy: /Check that the scheduler runs/ },
    async (lab) => {
      const place = await lab.aPlace();
      let id = '';
      const outcome = await without(lab, 'kube-scheduler', async () => {
        id = await place.deploy(aProgram());
        const isExplained = ({ message }: Shown) => /has not assigned it/.test(message);
        return place.outcome(await place.until(id, 'explains what it waits for', isExplained));
      });
      await place.is(id, 'running');
      return { ...outcome, after: 'running' };
    },
  ),
  situation(
    'a kubelet that is stopped',
    'stop the kubelet of a node, then start it',
    { phase: 'degraded', says: /The node node\d is down/, remedy: /Start it, or delete it from the cluster/ },
    async (lab) => ({
      ...(await onNode(
        lab,
        (node) => lab.control(`${node}/kubelet`, 'stop'),
        (node) => lab.control(`${node}/kubelet`, 'start'),
      )),
      after: 'running',
    }),
  ),
  situation(
    'a node without power',
    'end all processes of a node at once, then start it',
    { phase: 'degraded', says: /The node node\d is down/, remedy: /Start it, or delete it from the cluster/ },
    async (lab) => ({
      ...(await onNode(
        lab,
        (node) => lab.control(node, 'kill'),
        (node) => lab.control(node, 'start'),
      )),
      after: 'running',
    }),
  ),
  situation(
    'a restart of containerd',
    'stop containerd of a node while a deployment runs, then start it',
    { phase: 'running' },
    async (lab) => {
      const node = lab.nodes.at(-1) ?? '';
      const place = await lab.aPlace();
      const id = await running(place, { node_selector: { [HOST]: node } });
      const { instances } = await place.shown(id);
      await lab.control(`${node}/containerd`, 'stop');
      await lab.control(`${node}/containerd`, 'start');
      await place.reconcileNow(id);
      const shown = await place.is(id, 'running');
      expect(shown.instances.map(({ name }) => name)).toEqual(instances.map(({ name }) => name));
      return place.outcome(shown);
    },
  ),
  situation(
    'a cordon of all nodes',
    'cordon, restart the deployment, uncordon',
    { phase: 'degraded', reason: 'Unschedulable', says: /were unschedulable/, remedy: /Free or add capacity/ },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      for (const node of lab.nodes) await cordon(lab.kube, node, true);
      try {
        await lab.fleet.ask(id, 'restart');
        const outcome = await place.outcome(await place.is(id, 'degraded', 'Unschedulable'));
        return { ...outcome, after: 'running after the nodes were uncordoned' };
      } finally {
        for (const node of lab.nodes) await cordon(lab.kube, node, false);
        await place.is(id, 'running');
      }
    },
  ),
  situation(
    'a taint NoExecute on all nodes',
    'taint the nodes while a deployment runs, then remove the taint',
    { phase: 'retrying', reason: 'Unschedulable', says: /had taint/, remedy: /Free or add capacity/ },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      for (const node of lab.nodes) await taint(lab.kube, node, [{ key: 'lab', value: 'x', effect: 'NoExecute' }]);
      try {
        const outcome = await place.outcome(await place.is(id, 'retrying', 'Unschedulable'));
        return { ...outcome, after: 'running after the taint was removed' };
      } finally {
        for (const node of lab.nodes) await taint(lab.kube, node, []);
        await place.is(id, 'running');
      }
    },
  ),
  situation(
    'a toleration of a taint',
    'deploy with a toleration on a node with a taint',
    { phase: 'running' },
    async (lab) => {
      const node = lab.nodes.at(-1) ?? '';
      const place = await lab.aPlace();
      await taint(lab.kube, node, [{ key: 'lab', value: 'x', effect: 'NoExecute' }]);
      try {
        await place.check();
        const tolerations = [{ key: 'lab', operator: 'Equal', value: 'x', effect: 'NoExecute' }];
        const id = await running(place, { node_selector: { [HOST]: node }, tolerations });
        return await place.outcome(id);
      } finally {
        await taint(lab.kube, node, []);
      }
    },
  ),
  situation(
    'a taint that is not tolerated',
    'plan for a node with a taint',
    { phase: 'refused', reason: 'no_placement', says: /lab/, remedy: /workload\.tolerations/ },
    async (lab) => {
      const node = lab.nodes.at(-1) ?? '';
      const place = await lab.aPlace();
      await taint(lab.kube, node, [{ key: 'lab', value: 'x', effect: 'NoSchedule' }]);
      try {
        await place.check();
        return await place.refusedPlan(aProgram(undefined, { node_selector: { [HOST]: node } }));
      } finally {
        await taint(lab.kube, node, []);
      }
    },
  ),
  situation(
    'a drain',
    'evict the pod of a deployment from its node, as kubectl drain does',
    { phase: 'running' },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      const node = (await place.shown(id)).instances[0]?.node ?? '';
      try {
        await drain(lab.kube, node, place.namespace);
        const isElsewhere = ({ phase, instances }: Shown) =>
          phase === 'running' && instances.length > 0 && instances.every((instance) => instance.node !== node);
        return await place.outcome(await place.until(id, 'runs on another node', isElsewhere));
      } finally {
        await cordon(lab.kube, node, false);
      }
    },
  ),
  situation(
    'a PodDisruptionBudget that forbids an eviction',
    'minAvailable 1 of another program for one replica; evict; then delete the budget',
    { phase: 'running' },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      const budgets = `/apis/policy/v1beta1/namespaces/${place.namespace}/poddisruptionbudgets`;
      const selector = { matchLabels: { 'fleet/deployment': id } };
      await lab.kube('POST', budgets, { metadata: { name: 'keep' }, spec: { minAvailable: 1, selector } });
      const [{ metadata }] = await place.objects(id, place.core('pods'));
      const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: metadata.name } };
      const evict = () => lab.kube.ask('POST', place.core(`pods/${metadata.name}/eviction`), eviction);
      const isCounted = async () => (await lab.kube('GET', `${budgets}/keep`)).status?.currentHealthy === 1;
      await eventually('the budget counts the pod', isCounted, WAIT);
      expect((await evict()).status).toBe(429);
      const outcome = await place.outcome(await place.is(id, 'running'));
      await lab.kube('DELETE', `${budgets}/keep`);
      expect((await evict()).status).toBe(201);
      const isReplaced = ({ phase, instances }: Shown) =>
        phase === 'running' && instances.every(({ name }) => name !== metadata.name);
      await place.until(id, 'has another pod', isReplaced);
      return { ...outcome, after: 'running with another pod' };
    },
  ),
  situation(
    'the deletion of a deployment on a node without power',
    'end all processes of the node, delete the deployment, then start the node',
    {
      phase: 'deleting',
      says: /still to be removed/,
      remedy: /is overdue: check its finalizers, and for a pod also its node/,
    },
    async (lab) => {
      const node = lab.nodes.at(-1) ?? '';
      const place = await lab.aPlace();
      const id = await running(place, { node_selector: { [HOST]: node } });
      await lab.control(node, 'kill');
      let outcome = deleted();
      try {
        await lab.fleet.good(lab.fleet.api.delete(`/api/v1/deployments/${id}`));
        const isOverdue = ({ phase, message }: Shown) => phase === 'deleting' && /is overdue/.test(message);
        outcome = await place.outcome(await place.until(id, 'waits for its removal', isOverdue));
      } finally {
        await lab.control(node, 'start');
      }
      const isGone = async () => (await lab.fleet.api.get(`/api/v1/deployments/${id}`)).status === 404;
      await eventually('it is gone', isGone, WAIT);
      return { ...outcome, after: 'deleted after the node was started' };
    },
  ),
  situation(
    'a database of the cluster that is away',
    'stop etcd while a deployment runs, then start it',
    { phase: 'running' },
    async (lab) => {
      const place = await lab.aPlace();
      const id = await running(place);
      const outcome = await without(lab, 'etcd', async () => {
        await place.clusterOutcome();
        await place.reconcileNow(id);
        return place.outcome(id);
      });
      await online(place);
      await place.until(id, 'is reachable', (shown) => shown.phase === 'running' && !isUnreachable(shown));
      return { ...outcome, after: 'running' };
    },
  ),
];
