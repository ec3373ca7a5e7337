import type { WorkloadSpec } from '@svc/contract/fleet';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import { type KubernetesObject, renderKubernetes } from '../../../src/render/kubernetes.ts';
import { secretsWithValues } from '../../../src/render/secrets.ts';
import { aCluster, aRendering, aSpec } from '../renderings.ts';
import { deploymentOf, ofKind, render, secret, secrets, volume } from './helpers.ts';
import { assertValid } from './schemas.ts';

const jobOf = (objects: readonly KubernetesObject[]): IJob => {
  const [job] = ofKind(objects, 'Job');
  if (!job) throw new Error('no Job');
  return job;
};

test('objects are applied after the objects that they need', () => {
  const objects = render({
    ...volume,
    ...secret,
    registry_credentials: 'registry',
    ports: [{ containerPort: 80, protocol: 'TCP' }],
  });
  expect(objects.map(({ kind }) => kind)).toEqual([
    'Secret',
    'Secret',
    'PersistentVolumeClaim',
    'Deployment',
    'Service',
  ]);
});

test('a workload without ports, volumes and secrets is rendered as a Deployment only', () => {
  expect(render().map(({ kind }) => kind)).toEqual(['Deployment']);
});

test('an autoscaler is rendered for a service that runs, whose first number is within its bounds', () => {
  const autoscaling = { min_replicas: 2, max_replicas: 5, cpu_percent: 70 };
  const objects = render({ cpu_request: '1' }, { autoscaling });
  expect(objects.map(({ kind }) => kind)).toEqual(['Deployment', 'HorizontalPodAutoscaler']);
  for (const object of objects) assertValid(object);
  const replicasAt = (replicas: number) =>
    deploymentOf(render({ cpu_request: '1' }, { autoscaling, replicas })).replicas;
  expect([0, 1, 3, 9].map(replicasAt)).toEqual([0, 2, 3, 5]);
  expect(render({}, { autoscaling, replicas: 0 }).map(({ kind }) => kind)).toEqual(['Deployment']);
  expect(render({ kind: 'job' }, { autoscaling }).map(({ kind }) => kind)).toEqual(['Job']);
});

test('scaling, stopping and a new generation do not change the pod template', () => {
  const before = deploymentOf(render(secret));
  const after = deploymentOf(render(secret, { replicas: 0, generation: 8 }));
  expect(after.template).toEqual(before.template);
  expect(before.replicas).toBe(1);
  expect(after.replicas).toBe(0);
});

test('a restart changes the pod template', () => {
  const before = deploymentOf(render());
  const after = deploymentOf(render({}, { restarted_at: '2026-01-02T03:04:05.678Z' }));
  expect(after.template).not.toEqual(before.template);
});

test('another version of a secret changes the pod template', () => {
  const before = deploymentOf(render(secret, { secrets: secrets(1, 'a') }));
  const after = deploymentOf(render(secret, { secrets: secrets(2, 'b') }));
  expect(after.template).not.toEqual(before.template);
});

test('other registry credentials do not change the pod template, and apply to the next pull', () => {
  const pull = (version: number, password: string) =>
    render(
      { registry_credentials: 'registry' },
      { secrets: secretsWithValues([{ name: 'registry', version, values: { username: 'ada', password } }]) },
    );
  expect(deploymentOf(pull(2, 'b'))).toEqual(deploymentOf(pull(1, 'a')));
  expect(ofKind(pull(2, 'b'), 'Secret')).not.toEqual(ofKind(pull(1, 'a'), 'Secret'));
});

test('a selector contains only labels that never change', () => {
  const before = deploymentOf(render());
  const after = deploymentOf(
    render({ image_tag: '2', env: [{ name: 'A', value: 'b' }] }, { generation: 9, replicas: 3, restarted_at: 'now' }),
  );
  expect(after.selector).toEqual(before.selector);
});

test.each<[string, Partial<WorkloadSpec>, object]>([
  [
    'starts new pods before it stops old ones',
    {},
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  ],
  [
    'with GPUs requests no more GPUs than were allocated',
    { gpu_count: 1 },
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  ],
  ['with a ReadWriteOnce volume stops the old pods first', volume, { type: 'Recreate' }],
])('an update of a workload %s', (_, spec, strategy) => {
  expect(deploymentOf(render(spec)).strategy).toEqual(strategy);
});

test.each([
  ['public', 'LoadBalancer', 'LoadBalancer'],
  ['public', 'NodePort', 'NodePort'],
  ['public', 'ClusterIP', 'ClusterIP'],
  ['mesh', 'LoadBalancer', 'ClusterIP'],
] as const)('a workload that requires %s on a cluster with %s has a Service of type %s', (network, selected, type) => {
  const spec = aSpec({ ports: [{ containerPort: 80, protocol: 'TCP' }], required_network_types: [network] });
  const { objects } = renderKubernetes(aRendering(spec), aCluster({ public_service_type: selected }));
  expect(ofKind(objects, 'Service')[0]?.spec?.type).toBe(type);
});

test('each generation of a job is a new Job, because a Job is immutable', () => {
  const names = [1, 2].map((generation) => jobOf(render({ kind: 'job' }, { generation })).metadata?.name);
  expect(new Set(names).size).toBe(2);
});

test('a job runs once, and is complete afterwards', () => {
  const { spec } = jobOf(render({ kind: 'job' }));
  expect(spec).toMatchObject({ backoffLimit: 0, completions: 1, template: { spec: { restartPolicy: 'Never' } } });
  expect(spec).not.toHaveProperty('selector');
});

test('a stopped job is suspended, and does not count as complete', () => {
  expect(jobOf(render({ kind: 'job' }, { replicas: 0 })).spec).toMatchObject({ suspend: true, completions: 1 });
  const { spec } = jobOf(render({ kind: 'job' }, { replicas: 3 }));
  expect(spec).toMatchObject({ completions: 3, parallelism: 3 });
  expect(spec).not.toHaveProperty('suspend'); // clusters before 1.21 do not support it
});

test('a workload that no engine accepts is not rendered', () => {
  expect(() => render({ image_name: '' })).toThrow('image_name is required');
});

test('a mount without a volume is not rendered', () => {
  expect(() => render(volume, { volumes: [] })).toThrow('"data" is not bound to a volume');
});

test('the schemas of this test reject a wrong value and a member that Kubernetes does not declare', () => {
  const [deployment] = ofKind(render(), 'Deployment');
  expect(() => assertValid({ ...deployment, spec: { replicas: 'many' } } as never)).toThrow();
  const pod = { containers: [{ name: 'main', enviroment: [] }] };
  const misspelt = { ...deployment, spec: { ...deployment?.spec, template: { spec: pod } } } as never;
  expect(() => assertValid(misspelt)).toThrow('.spec.template.spec.containers[0].enviroment');
});
