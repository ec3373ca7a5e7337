// The policies of the test cluster (infra/cluster), whose decisions the tests on a real node rely on.
import { expect, test } from '@jest/globals';
import { violationsOf } from '../../../cluster/policies/pod-security.mjs';
import { mirroredImage, review } from '../../../cluster/policies/webhooks.mjs';

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const container = (securityContext: object = {}, more: object = {}) => ({
  ...{ name: 'main', image: 'redis:7.4.2', securityContext, ...more },
});
const pod = (spec: object = {}, securityContext: object = RESTRICTED, more: object = {}) => ({
  ...{ kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [container(securityContext, more)], ...spec } },
});

test('the level restricted permits a pod that has everything that it demands, on its containers or on itself', () => {
  expect(violationsOf('restricted', pod())).toEqual([]);
  const { runAsNonRoot, seccompProfile, ...onContainer } = RESTRICTED;
  expect(violationsOf('restricted', pod({ securityContext: { runAsNonRoot, seccompProfile } }, onContainer))).toEqual(
    [],
  );
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  expect(violationsOf('restricted', pod({ volumes }))).toEqual([]);
});

test('the level restricted names everything that a pod without a security context lacks', () => {
  expect(violationsOf('restricted', pod({}, {}))).toEqual([
    'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)',
    'runAsNonRoot != true (container "main" or their pod must set securityContext.runAsNonRoot=true)',
    'seccompProfile (container "main" or their pod must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])',
  ]);
  expect(violationsOf('baseline', pod({}, {}))).toEqual([]);
});

test.each([
  ['host namespaces', { hostPID: true }, {}],
  ['hostPath volumes', { volumes: [{ name: 'root', hostPath: { path: '/' } }] }, {}],
  ['forbidden sysctls', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, {}],
  ['privileged', {}, { privileged: true }],
  ['non-default capabilities', {}, { capabilities: { add: ['SYS_ADMIN'] } }],
  ['procMount', {}, { procMount: 'Unmasked' }],
  ['seccompProfile', {}, { seccompProfile: { type: 'Unconfined' } }],
  ['seLinuxOptions', {}, { seLinuxOptions: { user: 'system_u' } }],
])('the level baseline rejects a pod with %s', (title, spec, securityContext) => {
  const violations = violationsOf('baseline', pod(spec, securityContext));
  expect(violations).toEqual([expect.stringContaining(title)]);
});

test('the level baseline rejects host ports and unconfined AppArmor profiles', () => {
  expect(violationsOf('baseline', pod({}, {}, { ports: [{ containerPort: 80, hostPort: 80 }] }))).toEqual([
    'hostPort (80)',
  ]);
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' };
  expect(violationsOf('baseline', { ...pod(), metadata: { annotations } })).toEqual([
    expect.stringContaining('AppArmor profiles'),
  ]);
});

test.each([
  ['capabilities other than NET_BIND_SERVICE', {}, { capabilities: { drop: ['ALL'], add: ['CHOWN'] } }],
  ['the user root', {}, { runAsUser: 0 }],
  ['a container that overrides its pod', { securityContext: { runAsNonRoot: true } }, { runAsNonRoot: false }],
  ['other types of volumes', { volumes: [{ name: 'share', nfs: { server: 'a', path: '/' } }] }, {}],
])('the level restricted rejects %s', (_title, spec, securityContext) => {
  expect(violationsOf('restricted', pod(spec, { ...RESTRICTED, ...securityContext }))).toHaveLength(1);
});

test('a webhook applies only to namespaces with its label, and refuses with a sentence', () => {
  const asked = { uid: '1', object: pod({}, {}) };
  expect(review('pod-security', {}, asked)).toEqual({ uid: '1', allowed: true });
  expect(review('pod-security', { 'pod-security.kubernetes.io/enforce': 'baseline' }, asked).allowed).toBe(true);
  expect(review('pod-security', { 'pod-security.kubernetes.io/enforce': 'restricted' }, asked)).toMatchObject({
    allowed: false,
    status: {
      code: 403,
      message: expect.stringMatching(/^violates PodSecurity "restricted:latest": allowPrivilegeEscalation/),
    },
  });
  expect(review('require-label', { 'cluster.test/require-label': 'team' }, asked).status?.message).toBe(
    'the label "team" is required by the policy of this namespace',
  );
  const labelled = { ...asked.object, metadata: { name: 'web', labels: { team: 'a' } } };
  expect(
    review('require-label', { 'cluster.test/require-label': 'team' }, { uid: '1', object: labelled }).allowed,
  ).toBe(true);
});

test.each([
  ['redis:7.4.2', true],
  ['registry.example.test:5000/redis:7.4.2', true],
  ['redis', false],
  ['redis:latest', false],
  ['registry.example.test:5000/redis', false],
])('the denying webhook decides about the tag of %s', (image, allowed) => {
  const object = {
    kind: 'Deployment',
    metadata: {},
    spec: { template: { spec: { containers: [{ name: 'main', image }] } } },
  };
  expect(review('deny', { 'cluster.test/deny': 'latest-tag' }, { uid: '1', object }).allowed).toBe(allowed);
  expect(review('deny', { 'cluster.test/deny': 'all' }, { uid: '1', object }).allowed).toBe(false);
});

const patchOf = (value: string, object: object) => {
  const { patch } = review('mutate', { 'cluster.test/mutate': value }, { uid: '1', object });
  return patch === undefined ? [] : JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
};

test('the mutating webhook adds an annotation once, also to the template of pods', () => {
  const value = 'true';
  const object = {
    ...{ kind: 'Deployment', metadata: { name: 'web', annotations: { note: 'a' } } },
    spec: { template: { ...pod(), metadata: { labels: {} } } },
  };
  expect(patchOf('annotation', object)).toEqual([
    { op: 'add', path: '/metadata/annotations/cluster.test~1mutated', value },
    { op: 'add', path: '/spec/template/metadata/annotations', value: {} },
    { op: 'add', path: '/spec/template/metadata/annotations/cluster.test~1mutated', value },
  ]);
  expect(patchOf('annotation', { ...pod(), metadata: { annotations: { 'cluster.test/mutated': value } } })).toEqual([]);
});

test('the mutating webhook injects a sidecar that the level restricted permits, and replaces the registry of images', () => {
  const [sidecar, image, ...rest] = patchOf('sidecar.image', pod());
  expect(rest).toEqual([]);
  expect(sidecar).toMatchObject({ op: 'add', path: '/spec/containers/-', value: { name: 'injected-proxy' } });
  expect(violationsOf('restricted', { spec: { containers: [container(RESTRICTED), sidecar.value] } })).toEqual([]);
  expect(image).toEqual({
    ...{ op: 'replace', path: '/spec/containers/0/image', value: 'mirror.cluster.test/library/redis:7.4.2' },
  });
  expect(mirroredImage('grafana/grafana:12.0.2')).toBe('mirror.cluster.test/grafana/grafana:12.0.2');
  expect(mirroredImage('ghcr.io/a/b:1')).toBe('ghcr.io/a/b:1');
});
