// Situations of nodes that do not fit, volumes, Services, and the number of replicas.
import { expect } from '@jest/globals';
import { eventually } from '@svc/testing';
import { MERGE } from './kube.ts';
import { refusalOf } from './outcome.ts';
import { aProgram, type Shown, WAIT } from './places.ts';
import { corrected } from './programs.ts';
import { type Situation, situation } from './situation.ts';

const CAPACITY = /Free or add capacity/;
/** A cluster whose autoscaler does not exist: what does not fit is accepted, and stays pending. */
const ELASTIC = { elastic: { max_nodes: 20, per_replica: { cpu: '500', memory: '1Ti', gpu_count: 0 }, gpus: [] } };
const DATA = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
const PUBLIC = { ports: [{ containerPort: 8080 }], required_network_types: ['public'] };
const APPLY = 'application/apply-patch+yaml';

const hasCondition =
  (type: string) =>
  ({ phase, conditions }: Shown): boolean =>
    phase === 'running' && conditions.some((condition) => condition.type === type);

export const resources: readonly Situation[] = [
  situation(
    'more CPU than any node has',
    'plan with cpu_request 400',
    { phase: 'refused', reason: 'no_placement', remedy: /workload\.cpu_request/ },
    async ({ aPlace }) => (await aPlace()).refusedPlan(aProgram(undefined, { cpu_request: '400' })),
  ),
  situation(
    'pending because of CPU',
    'an elastic cluster without an autoscaler; cpu_request 400',
    { phase: 'retrying', reason: 'Unschedulable', says: /Insufficient cpu/, remedy: CAPACITY },
    async ({ aPlace }) => {
      const place = await aPlace({ cluster: ELASTIC });
      const id = await place.deploy(aProgram(undefined, { cpu_request: '400' }));
      return corrected(place, await place.is(id, 'retrying', 'Unschedulable'), { cpu_request: '10m' });
    },
  ),
  situation(
    'a node selector that no node has',
    'plan with node_selector disk: none',
    { phase: 'refused', reason: 'no_placement', says: /disk/, remedy: /workload\.node_selector/ },
    async ({ aPlace }) => (await aPlace()).refusedPlan(aProgram(undefined, { node_selector: { disk: 'none' } })),
  ),
  situation(
    'a node selector that new nodes do not have',
    'an elastic cluster without an autoscaler; node_selector disk: none and more CPU than is there',
    { phase: 'retrying', reason: 'Unschedulable', says: /didn't match/, remedy: CAPACITY },
    async ({ aPlace }) => {
      const place = await aPlace({ cluster: ELASTIC });
      const id = await place.deploy(aProgram(undefined, { node_selector: { disk: 'none' }, cpu_request: '10m' }));
      return corrected(place, await place.is(id, 'retrying', 'Unschedulable'), { node_selector: {} });
    },
  ),
  situation(
    'a volume with a storage class that does not exist',
    'default_storage_class of the cluster does not exist; then a volume of this class is created',
    { phase: 'retrying', reason: 'Unschedulable', says: /storageclass.* not found/, remedy: /correct a storage class/ },
    async ({ aPlace, kube, aName }) => {
      const storageClassName = `late-${aName()}`;
      const place = await aPlace({ cluster: { default_storage_class: storageClassName } });
      const id = await place.deploy(aProgram(undefined, DATA));
      const isExplained = ({ reason, message }: Shown) => reason === 'Unschedulable' && /storageclass/.test(message);
      const outcome = await place.outcome(await place.until(id, 'names the class', isExplained));
      const name = `pv-${place.namespace}`;
      const volume = { hostPath: { path: `/var/lib/${name}`, type: 'DirectoryOrCreate' }, storageClassName };
      const spec = { ...volume, capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'] };
      await kube('POST', '/api/v1/persistentvolumes', {
        metadata: { name },
        spec: { ...spec, persistentVolumeReclaimPolicy: 'Retain' },
      });
      try {
        await place.is(id, 'running');
        await place.removed(id);
        return { ...outcome, after: 'running after a volume of the class was created' };
      } finally {
        await kube('DELETE', `/api/v1/persistentvolumes/${name}`);
      }
    },
  ),
  situation(
    'a ReadWriteOnce volume and two replicas',
    'deploy with replicas 2 and a volume',
    { phase: 'refused', reason: '422 deployment_refused', says: /ReadWriteOnce/, remedy: /must be 1/ },
    async ({ aPlace }) => refusalOf(await (await aPlace()).ask(aProgram(undefined, DATA), { replicas: 2 })),
  ),
  situation(
    'a volume that was deleted by hand',
    'stop the deployment, delete its claim, start it; then accept the loss',
    { phase: 'failed', reason: 'VolumeLost', remedy: /\{"accept_loss": \["data"\]\}/ },
    async ({ aPlace, kube, fleet }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram(undefined, DATA));
      await place.is(id, 'running');
      await fleet.ask(id, 'stop');
      await place.is(id, 'stopped');
      const { items } = await kube('GET', place.core('persistentvolumeclaims'));
      expect(items).toHaveLength(1);
      await kube('DELETE', place.core(`persistentvolumeclaims/${items[0].metadata.name}`));
      const left = async () => (await kube('GET', place.core('persistentvolumeclaims'))).items.length;
      await eventually('the claim is gone', async () => (await left()) === 0, WAIT);
      await fleet.ask(id, 'start');
      const outcome = await place.outcome(await place.is(id, 'failed', 'VolumeLost'));
      await place.change(id, { accept_loss: ['data'] });
      await place.is(id, 'running');
      return { ...outcome, after: 'running with a new volume' };
    },
  ),
  situation('a Service of type NodePort', 'deploy a published workload', { phase: 'running' }, async ({ aPlace }) => {
    const place = await aPlace({ cluster: { public_service_type: 'NodePort' } });
    const id = await place.deploy(aProgram(undefined, PUBLIC));
    await place.is(id, 'running');
    const isPublished = ({ endpoints }: Shown) =>
      endpoints.some(({ scope, address }) => scope === 'public' && /^10\.210\.0\.\d+:3\d{4}$/.test(address));
    return place.outcome(await place.until(id, 'has the address of a node', isPublished));
  }),
  situation(
    'a load balancer without an address',
    'deploy a published workload; then the controller of the cloud sets an address',
    { phase: 'running', says: /LoadBalancerReady=False: The load balancer has no address yet/ },
    async ({ aPlace, kube }) => {
      const place = await aPlace({ cluster: { public_service_type: 'LoadBalancer' } });
      const id = await place.deploy(aProgram(undefined, PUBLIC));
      const outcome = await place.outcome(
        await place.until(id, 'reports the missing address', hasCondition('LoadBalancerReady')),
      );
      const [service] = await place.objects(id, place.core('services'));
      const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } };
      await kube('PATCH', place.core(`services/${service.metadata.name}/status`), { status }, MERGE);
      await place.reconcileNow(id);
      await place.until(id, 'has the address', ({ endpoints }) =>
        endpoints.some(({ address }) => address === '203.0.113.9:8080'),
      );
      return { ...outcome, after: 'running with 203.0.113.9:8080' };
    },
  ),
  situation(
    'kubectl scale beside an update',
    'scale to 3, then restart the deployment; then leave the number to the cluster',
    {
      phase: 'running',
      says: /ReplicasSetInCluster=True: .* has set 3 replicas/,
      remedy: /\{"scaled_by": "cluster"\}/,
    },
    async ({ aPlace, kube, fleet }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram(undefined, { cpu_request: '10m' }));
      await place.is(id, 'running');
      const [{ metadata }] = await place.objects(id, place.apps('deployments'));
      const scale = place.apps(`deployments/${metadata.name}/scale`);
      await kube('PATCH', scale, { spec: { replicas: 3 } }, MERGE);
      await fleet.ask(id, 'restart');
      await place.until(id, 'reports the number', hasCondition('ReplicasSetInCluster'));
      const shown = await place.is(id, 'running');
      expect((await kube('GET', scale)).spec.replicas).toBe(3);
      const outcome = await place.outcome(shown);
      await place.change(id, { scaled_by: 'cluster' });
      const isLeft = ({ phase, conditions }: Shown) => phase === 'running' && conditions.length === 0;
      await place.until(id, 'runs without the condition', isLeft);
      expect((await kube('GET', scale)).spec.replicas).toBe(3);
      return { ...outcome, after: 'running with 3 replicas and scaled_by cluster' };
    },
  ),
  situation(
    'autoscaling without metrics',
    'switch autoscaling on and off; the number stays',
    { phase: 'running', says: /AutoscalingActive=False: The autoscaler keeps the present number/ },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram(undefined, { cpu_request: '10m' }), { replicas: 2 });
      await place.is(id, 'running');
      const [{ metadata }] = await place.objects(id, place.apps('deployments'));
      const replicas = async () => (await kube('GET', place.apps(`deployments/${metadata.name}/scale`))).spec.replicas;
      await place.change(id, { autoscaling: { min_replicas: 1, max_replicas: 3, cpu_percent: 80 } });
      const reports = async () => {
        await place.reconcileNow(id);
        return place.shown(id);
      };
      const shown = await eventually('the autoscaler is reported', reports, {
        ...WAIT,
        until: hasCondition('AutoscalingActive'),
      });
      expect(await replicas()).toBe(2);
      await place.change(id, { autoscaling: null });
      await place.until(
        id,
        'runs without it',
        ({ phase, conditions }) => phase === 'running' && conditions.length === 0,
      );
      expect(await replicas()).toBe(2);
      return { ...(await place.outcome(shown)), after: 'running with 2 replicas and without autoscaling' };
    },
  ),
  situation(
    'autoscaling of a ReadWriteOnce volume',
    'deploy with autoscaling and a volume',
    { phase: 'refused', reason: '422 deployment_refused', says: /ReadWriteOnce/, remedy: /must not be set/ },
    async ({ aPlace }) =>
      refusalOf(
        await (await aPlace()).ask(aProgram(undefined, { ...DATA, cpu_request: '10m' }), {
          autoscaling: { min_replicas: 1, max_replicas: 3, cpu_percent: 80 },
        }),
      ),
  ),
  situation(
    'another manager of the image',
    'another field manager sets the image; then take_over',
    { phase: 'degraded', reason: 'FieldConflict', says: /image.* \(somebody\)/, remedy: /\{"take_over": true\}/ },
    async ({ aPlace, kube, fleet }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      const [{ metadata }] = await place.objects(id, place.apps('deployments'));
      const container = { name: 'main', image: 'docker.io/library/busybox:1.36' };
      await kube(
        'PATCH',
        `${place.apps(`deployments/${metadata.name}`)}?fieldManager=somebody&force=true`,
        {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: metadata.name } },
          spec: { template: { spec: { containers: [container] } } },
        },
        APPLY,
      );
      await fleet.ask(id, 'restart');
      const outcome = await place.outcome(await place.is(id, 'degraded', 'FieldConflict'));
      await place.change(id, { take_over: true });
      await place.is(id, 'running');
      return { ...outcome, after: 'running with the image of the workload' };
    },
  ),
];
