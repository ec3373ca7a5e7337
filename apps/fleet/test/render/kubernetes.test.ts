import type { WorkloadSpec } from '@svc/contract/fleet';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { KubernetesObject } from '../../src/render/kubernetes.ts';
import { revealed } from '../../src/render/secrets.ts';
import { demandValid } from './kubernetes-schemas.ts';
import { deploymentOf, ofKind, render, secret, secrets, volume } from './kubernetes-words.ts';

const jobOf = (objects: readonly KubernetesObject[]): IJob => {
  const [job] = ofKind(objects, 'Job');
  if (!job) throw new Error('no Job');
  return job;
};

test('what others need is applied before them', () => {
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

test('a workload without ports, volumes and secrets is a Deployment and nothing else', () => {
  expect(render().map(({ kind }) => kind)).toEqual(['Deployment']);
});

test('scaling, stopping and a new generation leave the pods alone', () => {
  const before = deploymentOf(render(secret));
  const after = deploymentOf(render(secret, { replicas: 0, generation: 8 }));
  expect(after.template).toEqual(before.template);
  expect([before.replicas, after.replicas]).toEqual([1, 0]);
});

test('a restart starts every pod anew', () => {
  const before = deploymentOf(render());
  const after = deploymentOf(render({}, { restarted_at: '2026-01-02T03:04:05.678Z' }));
  expect(after.template).not.toEqual(before.template);
});

test('another version of a secret starts every pod anew', () => {
  const before = deploymentOf(render(secret, { secrets: secrets(1, 'a') }));
  const after = deploymentOf(render(secret, { secrets: secrets(2, 'b') }));
  expect(after.template).not.toEqual(before.template);
});

test('other credentials for the registry are for the next pull and start nothing anew', () => {
  const pull = (version: number, password: string) =>
    render(
      { registry_credentials: 'registry' },
      { secrets: revealed([{ name: 'registry', version, values: { username: 'ada', password } }]) },
    );
  expect(deploymentOf(pull(2, 'b'))).toEqual(deploymentOf(pull(1, 'a')));
  expect(ofKind(pull(2, 'b'), 'Secret')).not.toEqual(ofKind(pull(1, 'a'), 'Secret'));
});

test('a selector is of what never changes', () => {
  const before = deploymentOf(render());
  const after = deploymentOf(
    render({ image_tag: '2', env: [{ name: 'A', value: 'b' }] }, { generation: 9, replicas: 3, restarted_at: 'now' }),
  );
  expect(after.selector).toEqual(before.selector);
});

test.each<[string, Partial<WorkloadSpec>, object]>([
  ['replaces pods without a gap', {}, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }],
  [
    'with GPUs asks for none more than were allocated',
    { gpu_count: 1 },
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  ],
  ['with a volume for one node gives it up first', volume, { type: 'Recreate' }],
])('a new version %s', (_, spec, strategy) => {
  expect(deploymentOf(render(spec)).strategy).toEqual(strategy);
});

test('a job of each generation is another, since a Job can’t be changed', () => {
  const names = [1, 2].map((generation) => jobOf(render({ kind: 'job' }, { generation })).metadata?.name);
  expect(new Set(names).size).toBe(2);
});

test('a job runs once, and is over when it has run', () => {
  const { spec } = jobOf(render({ kind: 'job' }));
  expect(spec).toMatchObject({ backoffLimit: 0, completions: 1, template: { spec: { restartPolicy: 'Never' } } });
  expect(spec).not.toHaveProperty('selector');
});

test('a job that is stopped waits, and does not count as done', () => {
  expect(jobOf(render({ kind: 'job' }, { replicas: 0 })).spec).toMatchObject({ suspend: true, completions: 1 });
  const { spec } = jobOf(render({ kind: 'job' }, { replicas: 3 }));
  expect(spec).toMatchObject({ completions: 3, parallelism: 3 });
  expect(spec).not.toHaveProperty('suspend'); // no cluster before 1.21 knows it
});

test('a workload that no engine takes is not rendered', () => {
  expect(() => render({ image_name: '' })).toThrow('image_name must be given');
});

test('a mount without a volume is not rendered', () => {
  expect(() => render(volume, { volumes: [] })).toThrow('"data" is bound to no volume');
});

test('the test’s own schemas find a wrong value and a member that Kubernetes does not declare', () => {
  const [deployment] = ofKind(render(), 'Deployment');
  expect(() => demandValid({ ...deployment, spec: { replicas: 'many' } } as never)).toThrow();
  const pod = { containers: [{ name: 'main', enviroment: [] }] };
  const misspelt = { ...deployment, spec: { ...deployment?.spec, template: { spec: pod } } } as never;
  expect(() => demandValid(misspelt)).toThrow('.spec.template.spec.containers[0].enviroment');
});
