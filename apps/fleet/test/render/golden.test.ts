import { renderDocker } from '../../src/render/docker.ts';
import { renderKubernetes } from '../../src/render/kubernetes.ts';
import { KEYS } from '../../src/render/labels.ts';
import { recordedReleases } from '../fake-hub/recorded.ts';
import { template } from './catalog.ts';
import { assertGolden } from './golden.ts';
import { aCluster, aHost, aRendering, aSpec, aVolume, shown } from './renderings.ts';

/** A deployment that uses every member. */
const everything = aRendering(
  aSpec({
    registry_url: 'Registry.example.com:5000/team',
    registry_credentials: 'registry',
    image_tag: 'latest',
    command: ['serve', '--price', '$(NOT_A_VARIABLE) $$5 $5'],
    env: [{ name: 'MODE', value: 'fast' }],
    env_schema: [{ name: 'NAME', required: true, default_value: '', description: 'Who it is' }],
    secret_refs: [
      { name: 'database', key: 'password', env: 'DATABASE_PASSWORD' },
      { name: 'mail', env: 'MAIL_TOKEN' },
    ],
    ports: [
      { containerPort: 53, protocol: 'udp' },
      { containerPort: 53, protocol: 'TCP' },
      { containerPort: 53, protocol: 'tcp' },
      { containerPort: 38_412, protocol: 'Sctp' },
    ],
    volume_mounts: [
      { name: 'models', mountPath: '/models' },
      { name: 'common', mountPath: '/common' },
      { name: 'common', mountPath: '/also-common' },
    ],
    cpu_request: '1500m',
    memory_request: '0.5Gi',
    gpu_count: 2,
    vram_request: '24Gi',
    concurrent_jobs: 4,
    node_selector: { 'example.com/disk': 'fast' },
    tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
    required_network_types: ['mesh', 'public'],
  }),
  {
    replicas: 2,
    restarted_at: '2026-01-02T03:04:05.678Z',
    volumes: [
      aVolume({ mount: 'models', name: 'models', access_mode: 'ReadOnlyMany', storage_class: 'nfs' }),
      aVolume({ mount: 'common', id: '019a0000-0000-7000-8000-00005a4ed001', access_mode: 'ReadWriteMany' }),
    ],
  },
);
const cluster = aCluster({ namespace: 'gpu', gpu_resource_name: 'amd.com/gpu', default_storage_class: 'standard' });

test('renders a database with a volume for a cluster as in the golden file', () => {
  assertGolden('postgresql-kubernetes', renderKubernetes(aRendering(template('postgresql')), aCluster()));
});

test('renders a job with secrets for a cluster as in the golden file, with redacted values', () => {
  assertGolden('restic-backup-kubernetes', renderKubernetes(shown(aRendering(template('restic-backup'))), aCluster()));
});

test('renders a job with secrets for Docker as in the golden file, with redacted values', () => {
  const rendering = shown(aRendering(template('restic-backup')));
  assertGolden('restic-backup-docker', renderDocker(rendering, aHost(rendering)));
});

test.each(['docker', 'podman'] as const)('renders a model server with a GPU for %s as in the golden file', (engine) => {
  const rendering = aRendering(template('vllm-openai'));
  assertGolden(`vllm-openai-${engine}`, renderDocker(rendering, aHost(rendering, engine)));
});

test('renders a deployment with every member for a cluster as in the golden file, with its values', () => {
  assertGolden('everything-kubernetes', renderKubernetes(everything, cluster));
});

test('renders a deployment with every member for Docker as in the golden file, with its values', () => {
  assertGolden('everything-docker', renderDocker(everything, aHost(everything)));
});

test('renders a restricted deployment with all policies of its cluster as in the golden file', () => {
  const restricted = aRendering(
    aSpec({
      security_profile: 'restricted',
      run_as: '1000:2000',
      cpu_request: '500m',
      cpu_limit: '2',
      memory_request: '1Gi',
      memory_limit: '2Gi',
      env: [{ name: 'SVC_HEALTH_CHECK', value: 'http:8080/health' }],
      start_period_seconds: 120,
      restart_unhealthy: true,
      service_account_token: true,
      ports: [{ containerPort: 8080, protocol: 'TCP' }],
    }),
    {
      replicas: 2,
      labels: { team: 'ml', stage: 'live', 'app.kubernetes.io/name': 'another' },
      podSettings: {
        object_labels: { 'cost-center': '4711' },
        object_annotations: { 'example.com/owner': 'platform' },
        pod_label_keys: ['team'],
        service_account: 'apps',
        allow_service_account_tokens: true,
        pull_secrets: ['mirror'],
        priority_class: 'low',
        cluster_domain: 'cluster.local',
      },
    },
  );
  const policed = aCluster({
    object_labels: { 'cost-center': '4711' },
    object_annotations: { 'example.com/owner': 'platform' },
    disruption_budgets: 'with_unhealthy',
  });
  assertGolden('restricted-kubernetes', renderKubernetes(restricted, policed));
  assertGolden('restricted-docker', renderDocker(restricted, aHost(restricted)));
});

test('renders a deployment with files and its own program, and one with a read-only file system, as in the golden files', () => {
  const placed = aRendering(
    aSpec({
      entrypoint: ['/usr/bin/server', '--verbose'],
      command: ['$(NOT_A_VARIABLE)'],
      working_dir: '/srv',
      run_as: '1000',
      files: [
        { path: '/etc/server/server.conf', content: 'port = 8080\n', mode: '0444' },
        { path: '/usr/bin/prepare', content: '#!/bin/sh\n', mode: '0555' },
      ],
    }),
  );
  const closed = aRendering(
    aSpec({
      read_only_root: true,
      memory_limit: '1Gi',
      volume_mounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'data', mountPath: '/view', read_only: true },
      ],
      tmpfs: [
        { path: '/tmp', size: '64Mi' },
        { path: '/run', size: '1Mi' },
      ],
    }),
  );
  for (const [name, rendering] of Object.entries({ placed, closed })) {
    for (const engine of ['docker', 'podman'] as const)
      assertGolden(`${name}-${engine}`, renderDocker(rendering, aHost(rendering, engine)));
    assertGolden(`${name}-kubernetes`, renderKubernetes(rendering, cluster));
  }
});

const SOURCE: readonly string[] = [KEYS.workload, KEYS.revision, KEYS.variables];
const without = (labels: readonly string[], rendered: object) =>
  JSON.parse(JSON.stringify(rendered, (key, value) => (labels.includes(key) ? undefined : value)));

/**
 * The defaults of each release, and the labels that it did not write. They are not in the digest of
 * a container, and not in a pod.
 */
const RELEASES: Readonly<Record<string, { readonly defaults: number; readonly unknown: readonly string[] }>> = {
  '0.1.0': { defaults: 1, unknown: SOURCE },
  '0.2.0': { defaults: 2, unknown: [] },
};

test('the defaults of each recorded release are known', () => {
  expect(Object.keys(RELEASES)).toEqual([...recordedReleases].sort());
});

test.each(Object.entries(RELEASES))(
  'renders a deployment with the defaults of version %s as that version did',
  (release, { defaults, unknown }) => {
    const old = { ...everything, defaults };
    assertGolden(`${release}/everything-docker`, without(unknown, renderDocker(old, aHost(old))));
    assertGolden(`${release}/everything-kubernetes`, without(unknown, renderKubernetes(old, cluster)));
  },
);

test('does not write the workload and the revision into pods, which would replace them', () => {
  const { objects } = renderKubernetes(everything, cluster);
  const specs = objects.map((object) => JSON.stringify('spec' in object ? object.spec : {}));
  expect(specs.filter((spec) => SOURCE.some((key) => spec.includes(key)))).toEqual([]);
});
