import { randomUUID } from 'node:crypto';
import { phases, workloadDefaults } from '@svc/contract/fleet';
import type { Random } from '../../random.ts';
import type { Resources } from '../resources.ts';

const TIMES = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'].map((at) => new Date(at));
const NETWORKS = ['mesh', 'public', 'lab'];

/**
 * Rows of all lists with random values. Many rows have the same value or time, so that pages depend
 * on the ids.
 */
export async function fillLists({ client, aToken, aUser, anOidcUser }: Resources, random: Random, rows: number) {
  const { oneOf, isOneIn, some } = random;
  const each = <T>(row: (index: number) => T): T[] => Array.from({ length: rows }, (_, index) => row(index));
  const maybe = <T>(value: T) => (isOneIn(4) ? null : value);
  const common = (index: number) => ({
    id: randomUUID(),
    // In some locales, a hyphen is ignored at first.
    name: `${oneOf(['a', 'b-a', 'ba', 'b'])}-${oneOf(['x', '1'])}-${index}`,
    labels: oneOf([{}, { team: 'ml' }, { team: 'web', gpu: '' }]),
    created_at: oneOf(TIMES),
    updated_at: oneOf(TIMES),
    created_by: oneOf(['token:one', 'token:one, two', 'person@example.test']),
  });
  const observed = () => ({
    reachability: oneOf(['unknown', 'online', 'unreachable'] as const),
    last_seen_at: maybe(oneOf(TIMES)),
    network_types: some(NETWORKS, 0.4),
  });

  const hosts = each((index) => ({
    ...common(index),
    ...observed(),
    engine: oneOf(['docker', 'podman'] as const),
    endpoint: 'tcp://engine.example.test:2376',
    by_admin: true,
    schedulable: !isOneIn(3),
    arch: maybe(oneOf(['amd64', 'arm64'])),
  }));
  await client.host.createMany({ data: hosts });
  const clusters = each((index) => ({
    ...common(index),
    ...observed(),
    server: 'https://cluster.example.test:6443',
    by_admin: true,
    auth_kind: 'token' as const,
    sealed: '',
    key_id: 'test',
    namespace: 'fleet',
    gpu_resource_name: 'nvidia.com/gpu',
  }));
  await client.cluster.createMany({ data: clusters });
  await client.node.createMany({
    data: each((index) => ({
      id: randomUUID(),
      cluster_id: oneOf(clusters.slice(0, 3)).id,
      name: `node-${index}.example.test`,
      labels: oneOf([{}, { team: 'ml' }]),
      taints: [],
      schedulable: !isOneIn(3),
      ready: !isOneIn(3),
      version: 'v1.35.0',
      arch: oneOf(['amd64', 'arm64']),
      created_at: oneOf(TIMES),
      updated_at: oneOf(TIMES),
      cpu_millis: 1000,
      memory_bytes: 2 ** 30,
      gpu_count: 0,
    })),
  });

  const templates = ['redis', 'postgresql', 'nginx'].map((slug) => ({
    template_slug: slug,
    template_id: randomUUID(),
    template_version: '1',
    template_hash: '',
    min_tier: 'free',
  }));
  const [redis, postgresql] = templates.map(({ template_id }) => template_id);
  await client.catalogTemplate.createMany({
    data: [redis, postgresql].map((id) => ({
      id: id ?? '',
      ...{ slug: 'any', category_id: randomUUID(), category_slug: 'any', is_featured: false },
      ...{ search_text: '', sort_name: '', updated_at: new Date(), document: {} },
    })),
  });
  const anAdvisory = (severity: string, first_revision: number) => ({
    ...{ id: randomUUID(), severity, message: 'flawed', url: null, first_revision, last_revision: null },
  });
  await client.catalogAdvice.createMany({
    data: [
      {
        template_id: redis ?? '',
        status: 'deprecated',
        advisories: [anAdvisory('critical', 2), anAdvisory('note', 1)],
      },
      { template_id: postgresql ?? '', status: 'active', advisories: [anAdvisory('warning', 2)] },
    ].map((advice) => ({ ...advice, status_message: '', bytes: 0 })),
  });
  const workloads = each((index) => ({ ...common(index), revision: 2 }));
  await client.workload.createMany({ data: workloads });
  await client.workloadRevision.createMany({
    data: workloads.flatMap(({ id }) =>
      [1, 2].map((revision) => ({
        ...(maybe(oneOf(templates)) ?? {}),
        template_revision: maybe(oneOf([1, 2])),
        workload_id: id,
        revision,
        spec: workloadDefaults,
        overrides: {},
        created_by: 'test',
      })),
    ),
  });
  const onTarget = () =>
    isOneIn(2)
      ? { host_id: oneOf(hosts.slice(0, 4)).id, cluster_id: null }
      : { host_id: null, cluster_id: oneOf(clusters.slice(0, 4)).id };
  const deployments = each((index) => ({
    ...common(index),
    ...onTarget(),
    workload_id: oneOf(workloads.slice(0, 8)).id,
    revision: oneOf([1, 2]),
    replicas: 1,
    phase: oneOf(phases),
    desired_state: oneOf(['running', 'stopped'] as const),
  }));
  await client.deployment.createMany({ data: deployments });
  const volumes = each((index) => ({
    ...common(index),
    ...(isOneIn(4) ? {} : onTarget()),
    size: '1Gi',
    access_mode: oneOf(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] as const),
    reclaim: oneOf(['retain', 'delete'] as const),
    phase: oneOf(['pending', 'bound', 'lost', 'deleting'] as const),
    deployment_id: maybe(oneOf(deployments.slice(0, 4)).id),
  }));
  await client.volume.createMany({ data: volumes });
  await client.attachment.createMany({
    data: some(volumes, 0.5).map(({ id }, index) => ({
      deployment_id: oneOf(deployments).id,
      mount: `data-${index}`,
      volume_id: id,
    })),
  });
  await client.secret.createMany({
    data: each((index) => ({
      ...common(index),
      kind: oneOf(['opaque', 'registry', 'tls'] as const),
      keys: ['a'],
      sealed: '',
      key_id: 'test',
      last_rotated_at: oneOf(TIMES),
    })),
  });
  for (let index = 0; index < rows; index++) {
    const name = `${oneOf(['ada', 'Ada', 'Bo, b', 'bo'])}`;
    const times = { created_at: oneOf(TIMES), updated_at: oneOf(TIMES), last_sign_in_at: maybe(oneOf(TIMES)) };
    const { id } = isOneIn(2)
      ? await aUser(oneOf(['admin', 'operator', 'viewer']))
      : await anOidcUser({ role: oneOf(['crew', 'chief', 'admin', 'nobody']) });
    await client.user.update({ where: { id }, data: { name, ...times } });
    await aToken({
      name,
      role: oneOf(['admin', 'operator', 'viewer']),
      created_by: oneOf(['ada', 'Bo, b']),
      created_at: oneOf(TIMES),
      expires_at: maybe(oneOf([new Date(0), new Date('2100-01-01')])),
      revoked_at: isOneIn(3) ? new Date() : null,
      last_used_at: maybe(oneOf(TIMES)),
    });
  }
}
