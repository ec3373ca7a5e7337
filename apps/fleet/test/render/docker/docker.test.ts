import { createHash } from 'node:crypto';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { BOOKKEEPING } from '../../../src/render/labels.ts';
import { secretsWithValues } from '../../../src/render/secrets.ts';
import { aVolume } from '../renderings.ts';
import { bodyOf, type Given, render, web } from './helpers.ts';
import { containerBody, dockerManifest } from './schemas.ts';

const digestOf = (spec: Partial<WorkloadSpec> = {}, given: Given = {}) => bodyOf(spec, given).Labels['fleet/body'];

const secret = { secret_refs: [{ name: 'database', key: 'password', env: 'PASSWORD' }] };
const secrets = (version: number, password: string) =>
  secretsWithValues([{ name: 'database', version, values: { password } }]);

test('a stopped deployment on a host keeps its volumes and has no container', () => {
  const manifest = render({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, { replicas: 0 });
  expect(manifest.volumes).toHaveLength(1);
  expect(manifest.containers).toHaveLength(0);
});

test('a container is named after its deployment and ordinal, and labelled with both and the generation', () => {
  const manifest = render({}, { replicas: 2 });
  expect(manifest.containers.map(({ name }) => name)).toEqual(['web-decade01-0', 'web-decade01-1']);
  expect(manifest.containers[1]?.body.Labels).toMatchObject({
    'fleet/deployment': '019a0000-0000-7000-8000-0000decade01',
    'fleet/generation': '7',
    'fleet/ordinal': '1',
  });
});

test.each<[string, Partial<WorkloadSpec>, Given]>([
  ['a change of the image', { image_tag: '2' }, {}],
  ['a restart', {}, { restarted_at: '2026-01-02T03:04:05.678Z' }],
  ['another version of a secret', {}, { secrets: secrets(2, 'a') }],
  [
    'another host port',
    {},
    { host: { ports: [[{ containerPort: 80, protocol: 'TCP', hostPort: 40_000, addresses: [] }]] } },
  ],
  [
    'another address',
    {},
    { host: { ports: [[{ containerPort: 80, protocol: 'TCP', hostPort: 30_000, addresses: ['10.1.2.3'] }]] } },
  ],
])('%s replaces the container', (_, spec, given) => {
  const base = { ...secret, ...web };
  expect(digestOf({ ...base, ...spec }, { secrets: secrets(1, 'a'), ...given })).not.toBe(
    digestOf(base, { secrets: secrets(1, 'a') }),
  );
});

test('a new generation or number of replicas does not replace a container', () => {
  expect(digestOf(web, { generation: 8, replicas: 3 })).toBe(digestOf(web));
});

test('the digest of a container does not depend on the value of a secret', () => {
  expect(digestOf(secret, { secrets: secrets(1, 'a') })).toBe(digestOf(secret, { secrets: secrets(1, 'b') }));
});

test('the digest of a container is that of the JSON of its body without values of secrets, digest and origin', () => {
  const spec = { ...web, ...secret, env: [{ name: 'A', value: 'x' }], command: ['run'] };
  const { containers } = render(spec, { replicas: 3, secrets: secrets(1, 'hunter2') });
  for (const { body } of containers) {
    const { 'fleet/body': digest } = body.Labels;
    const labels = Object.fromEntries(Object.entries(body.Labels).filter(([key]) => !BOOKKEEPING.includes(key)));
    const described = { ...body, Env: ['A=x', 'NVIDIA_VISIBLE_DEVICES=void', 'PASSWORD=(secret)'], Labels: labels };
    expect(createHash('sha256').update(JSON.stringify(described)).digest('hex').slice(0, 32)).toBe(digest);
  }
});

test('all replicas share one list of variables, which is rendered once', () => {
  let reads = 0;
  const counted = secrets(1, 'hunter2');
  const value = (name: string, key: string) => {
    reads += 1;
    return counted.value(name, key);
  };
  const { containers } = render(secret, { replicas: 1000, secrets: { ...counted, value } });
  expect(new Set(containers.map(({ body }) => body.Env)).size).toBe(1);
  expect(containers).toHaveLength(1000);
  expect(reads).toBe(1);
});

test('a service is restarted a limited number of times, a job never', () => {
  expect(bodyOf().HostConfig.RestartPolicy).toEqual({ Name: 'on-failure', MaximumRetryCount: 3 });
  expect(bodyOf({ kind: 'job' }).HostConfig.RestartPolicy).toEqual({ Name: 'no', MaximumRetryCount: 0 });
});

test('a container gets all variables in plain text, also those of secrets', () => {
  const body = bodyOf({ ...secret, env: [{ name: 'QUERY', value: 'a=b=$(C)' }] }, { secrets: secrets(1, 'hunter2') });
  expect(body.Env).toEqual(['QUERY=a=b=$(C)', 'NVIDIA_VISIBLE_DEVICES=void', 'PASSWORD=hunter2']);
});

test('volumes are created once, labelled as volumes, and mounted at the paths of the workload', () => {
  const manifest = render(
    {
      volume_mounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'data', mountPath: '/again' },
      ],
    },
    { volumes: [aVolume({ access_mode: 'ReadOnlyMany' })] },
  );
  expect(manifest.volumes.map(({ Name }) => Name)).toEqual(['data-0000da7a']);
  expect(manifest.volumes[0]?.Labels).not.toHaveProperty('fleet/deployment');
  expect(manifest.containers[0]?.body.HostConfig.Mounts).toEqual([
    { Type: 'volume', Source: 'data-0000da7a', Target: '/data', ReadOnly: true },
    { Type: 'volume', Source: 'data-0000da7a', Target: '/again', ReadOnly: true },
  ]);
});

test('a mount path that Podman would parse as further options is not rendered', () => {
  const volume_mounts = [{ name: 'data', mountPath: '/data,type=bind,source=/' }];
  expect(() => render({ volume_mounts })).toThrow('must not contain a comma');
});

test.each(['docker', 'podman'] as const)('the log of a container is limited on %s', (engine) => {
  expect(bodyOf({}, { host: { engine } }).HostConfig.LogConfig.Config['max-size']).toMatch(/^\d+m$/);
});

test('registry credentials are rendered only for a workload that has them', () => {
  expect(dockerManifest.parse(render({ registry_credentials: 'registry' })).registryAuth).toBeDefined();
  expect(render()).not.toHaveProperty('registryAuth');
});

test.each<[string, object]>([
  ['privileged mode', { Privileged: true }],
  ['the network of the host', { NetworkMode: 'host' }],
  ['a path of the host', { Binds: ['/:/host'] }],
])('the schema of this test rejects %s', (_, member) => {
  const body = bodyOf();
  expect(containerBody.safeParse({ ...body, HostConfig: { ...body.HostConfig, ...member } }).success).toBe(false);
});
