import type { WorkloadSpec } from '@svc/contract/fleet';
import { revealed } from '../../src/render/secrets.ts';
import { containerBody, dockerManifest } from './docker-schemas.ts';
import { bodyOf, type Given, render, web } from './docker-words.ts';
import { aVolume } from './renderings.ts';

const digestOf = (spec: Partial<WorkloadSpec> = {}, given: Given = {}) => bodyOf(spec, given).Labels['fleet/body'];

const secret = { secret_refs: [{ name: 'database', key: 'password', env: 'PASSWORD' }] };
const secrets = (version: number, password: string) => revealed([{ name: 'database', version, values: { password } }]);

test('a stopped deployment keeps its volumes and has no container', () => {
  const manifest = render({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, { replicas: 0 });
  expect([manifest.volumes.length, manifest.containers.length]).toEqual([1, 0]);
});

test('a container is called after its deployment and its ordinal, and labelled with both and the generation', () => {
  const manifest = render({}, { replicas: 2 });
  expect(manifest.containers.map(({ name }) => name)).toEqual(['web-decade01-0', 'web-decade01-1']);
  expect(manifest.containers[1]?.body.Labels).toMatchObject({
    'fleet/deployment': '019a0000-0000-7000-8000-0000decade01',
    'fleet/generation': '7',
    'fleet/ordinal': '1',
  });
});

test.each<[string, Partial<WorkloadSpec>, Given]>([
  ['what runs', { image_tag: '2' }, {}],
  ['a restart', {}, { restarted_at: '2026-01-02T03:04:05.678Z' }],
  ['another version of a secret', {}, { secrets: secrets(2, 'a') }],
  ['another host port', {}, { host: { ports: [[{ containerPort: 80, protocol: 'TCP', hostPort: 40_000 }]] } }],
])('%s makes another container', (_, spec, given) => {
  const base = { ...secret, ...web };
  expect(digestOf({ ...base, ...spec }, { secrets: secrets(1, 'a'), ...given })).not.toBe(
    digestOf(base, { secrets: secrets(1, 'a') }),
  );
});

test('a new generation and a new number of replicas leave a container as it is', () => {
  expect(digestOf(web, { generation: 8, replicas: 3 })).toBe(digestOf(web));
});

test('the digest of a container tells nothing of a secret’s value', () => {
  expect(digestOf(secret, { secrets: secrets(1, 'a') })).toBe(digestOf(secret, { secrets: secrets(1, 'b') }));
});

test('a service is started again a few times, a job never', () => {
  expect(bodyOf().HostConfig.RestartPolicy).toEqual({ Name: 'on-failure', MaximumRetryCount: 3 });
  expect(bodyOf({ kind: 'job' }).HostConfig.RestartPolicy).toEqual({ Name: 'no', MaximumRetryCount: 0 });
});

test('variables are given in clear, those of secrets as well', () => {
  const body = bodyOf({ ...secret, env: [{ name: 'QUERY', value: 'a=b=$(C)' }] }, { secrets: secrets(1, 'hunter2') });
  expect(body.Env).toEqual(['QUERY=a=b=$(C)', 'PASSWORD=hunter2']);
});

test('volumes are made once, labelled as volumes, and mounted where the workload wants them', () => {
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

test('a mount path that Podman would read as more options is not rendered', () => {
  const volume_mounts = [{ name: 'data', mountPath: '/data,type=bind,source=/' }];
  expect(() => render({ volume_mounts })).toThrow('must not hold a comma');
});

test.each(['docker', 'podman'] as const)('what a container writes to its log is bounded on %s', (engine) => {
  expect(bodyOf({}, { host: { engine } }).HostConfig.LogConfig.Config['max-size']).toMatch(/^\d+m$/);
});

test('who pulls is told where the registry asks, and only there', () => {
  expect(dockerManifest.parse(render({ registry_credentials: 'registry' })).registryAuth).toBeDefined();
  expect(render()).not.toHaveProperty('registryAuth');
});

test.each<[string, object]>([
  ['privileges', { Privileged: true }],
  ['the network of the host', { NetworkMode: 'host' }],
  ['a path of the host', { Binds: ['/:/host'] }],
])('the test’s own schema finds %s', (_, member) => {
  const body = bodyOf();
  expect(containerBody.safeParse({ ...body, HostConfig: { ...body.HostConfig, ...member } }).success).toBe(false);
});
