import { CAPABILITIES } from '../../../src/render/capabilities.ts';
import { containerOf, deploymentOf, ofKind, render, secret, secrets } from './helpers.ts';

const NO_GPUS = { name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' };

test('text that Kubernetes would expand as variable references is escaped', () => {
  const container = containerOf(
    render({ command: ['$(HOME)', '$$', '$HOME', '$'], env: [{ name: 'A', value: '$$(B)' }] }),
  );
  expect(container?.args).toEqual(['$$(HOME)', '$$$', '$HOME', '$']);
  expect(container?.env).toEqual([{ name: 'A', value: '$$$$(B)' }, NO_GPUS]);
});

test('values of secrets are in the Secret, and the pod refers to them', () => {
  const objects = render(secret, { secrets: secrets(1, 'hunter2') });
  const [stored] = ofKind(objects, 'Secret');
  expect(stored?.data).toEqual({ PASSWORD: Buffer.from('hunter2').toString('base64') });
  expect(containerOf(objects)?.env).toEqual([
    NO_GPUS,
    { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: stored?.metadata?.name, key: 'PASSWORD' } } },
  ]);
});

test('a variable with a name that is too long for a key has another key', () => {
  const long = 'A'.repeat(256);
  const objects = render({
    secret_refs: [`${long.slice(1)}B`, `${long.slice(1)}C`].map((env) => ({ name: 'database', key: 'password', env })),
  });
  const keys = Object.keys(ofKind(objects, 'Secret')[0]?.data ?? {});
  expect(keys.map((key) => key.length)).toEqual([253, 253]);
  expect(new Set(keys).size).toBe(2);
});

test('the same number as a TCP port and a UDP port is two ports', () => {
  const ports = [
    { containerPort: 53, protocol: 'tcp' },
    { containerPort: 53, protocol: 'UDP' },
    { containerPort: 53, protocol: 'TCP' },
  ];
  const names = containerOf(render({ ports }))?.ports?.map(({ name }) => name);
  expect(names).toEqual(['tcp-53', 'udp-53']);
});

test.each<[string, string, string | undefined, string | undefined]>([
  ['as given', '500m', '500m', '8Gi'],
  ['without fractions', '0.25', '250m', undefined],
  ['only if they are greater than zero', '0', undefined, undefined],
])('CPU and memory are requested %s', (_, cpu, expectedCpu, memory) => {
  const requests =
    containerOf(render({ cpu_request: cpu, memory_request: memory ?? '0.0' }))?.resources?.requests ?? {};
  expect(requests).toEqual({ ...(expectedCpu && { cpu: expectedCpu }), memory: memory ?? '0' });
});

test('an image with the tag latest is always pulled', () => {
  expect(containerOf(render({ image_tag: 'latest' }))?.imagePullPolicy).toBe('Always');
  expect(containerOf(render({ image_tag: '1.2' }))?.imagePullPolicy).toBe('IfNotPresent');
});

test('a pod has a grace period only if the workload states another one than the default', () => {
  const periodOf = (stop_grace_seconds: number) =>
    deploymentOf(render({ stop_grace_seconds })).template.spec?.terminationGracePeriodSeconds;
  expect(periodOf(30)).toBeUndefined();
  expect(periodOf(300)).toBe(300);
});

test('a pod gets no service account token, no privilege escalation, and no service environment variables', () => {
  const { template } = deploymentOf(render());
  expect(template.spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  expect(template.spec?.securityContext).toEqual({ seccompProfile: { type: 'RuntimeDefault' } });
  expect(template.spec?.containers[0]?.securityContext).toMatchObject({ allowPrivilegeEscalation: false });
});

test('a default limit of memory reserves nothing: its request is 0, because Kubernetes would use the limit', () => {
  expect(containerOf(render())?.resources).toEqual({ requests: { memory: '0' }, limits: { memory: '2Gi' } });
  const unlimited = { defaultLimits: { memory_bytes: null, processes: null } };
  expect(containerOf(render({}, unlimited))).not.toHaveProperty('resources');
});

test('a container has only the documented capabilities', () => {
  expect(containerOf(render())?.securityContext?.capabilities).toEqual({ drop: ['ALL'], add: [...CAPABILITIES] });
});

test('the variable SVC_SHM_SIZE mounts a volume in memory at /dev/shm, and is not passed to the program', () => {
  const objects = render({ env: [{ name: 'SVC_SHM_SIZE', value: '1Gi' }] });
  expect(deploymentOf(objects).template.spec?.volumes).toEqual([
    { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
  ]);
  expect(containerOf(objects)?.volumeMounts).toEqual([{ name: 'shm', mountPath: '/dev/shm' }]);
  expect(containerOf(objects)?.env).toEqual([NO_GPUS]);
});

test.each([
  ['http:8080/health', { httpGet: { path: '/health', port: 8080 } }],
  ['http:8080', { httpGet: { path: '/', port: 8080 } }],
  ['tcp:5432', { tcpSocket: { port: 5432 } }],
  ['exec:pg_isready -q', { exec: { command: ['/bin/sh', '-c', 'pg_isready -q'] } }],
])('the health check %s is a readiness probe', (value, probe) => {
  const container = containerOf(render({ env: [{ name: 'SVC_HEALTH_CHECK', value }] }));
  expect(container?.readinessProbe).toMatchObject(probe);
  expect(container).not.toHaveProperty('livenessProbe');
});
