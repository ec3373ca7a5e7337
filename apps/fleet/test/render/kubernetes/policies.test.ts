// What the policies of a cluster, the labels of a deployment and the security of a workload change.
import type { WorkloadSpec } from '@svc/contract/fleet';
import { renderKubernetes } from '../../../src/render/kubernetes.ts';
import type { Cluster } from '../../../src/render/pod.ts';
import { type PodSettings, podSettings } from '../../../src/render/pod-settings.ts';
import type { Rendering } from '../../../src/render/rendering.ts';
import { specProblems } from '../../../src/render/spec-problems.ts';
import { aCluster, aRendering, aSpec, aVolume } from '../renderings.ts';
import { containerOf, deploymentOf, ofKind, render, volume } from './helpers.ts';
import { violationsOf } from './pod-security.ts';
import { assertValid } from './schemas.ts';

const aSetting = (given: Partial<PodSettings> = {}): PodSettings =>
  podSettings.parse({
    object_labels: {},
    object_annotations: {},
    pod_label_keys: [],
    service_account: null,
    allow_service_account_tokens: false,
    pull_secrets: [],
    priority_class: null,
    ...given,
  });

/** The rendering of a deployment in a cluster, whose objects Kubernetes accepts. */
function rendered(
  spec: Partial<WorkloadSpec>,
  given: Partial<Rendering<'values'>> = {},
  cluster: Partial<Cluster> = {},
) {
  const { objects } = renderKubernetes(aRendering(aSpec(spec), given), aCluster(cluster));
  for (const object of objects) assertValid(object);
  return objects;
}

const podOf = (objects: ReturnType<typeof rendered>) => deploymentOf(objects).template;

const OWN = {
  'app.kubernetes.io/name': 'web',
  'app.kubernetes.io/managed-by': 'fleet',
  'fleet/deployment': expect.any(String),
};
const OF_PODS = { ...OWN, 'fleet/network': 'alone' };

describe('the labels', () => {
  const labels = {
    team: 'ml',
    'example.com/cost': '4711',
    'fleet/deployment': 'another',
    'app.kubernetes.io/name': 'other',
    'app.kubernetes.io/part-of': 'shop',
    'service.kubernetes.io/headless': '',
    'pod-template-hash': 'x',
    'a..b/c': 'd',
  };

  test('of a deployment are on its objects, without keys of the fleet, of Kubernetes, and of controllers', () => {
    const objects = rendered({ ports: [{ containerPort: 80, protocol: 'TCP' }] }, { labels });
    for (const { metadata } of objects)
      expect(metadata?.labels).toEqual({ team: 'ml', 'example.com/cost': '4711', ...OWN });
    expect(podOf(objects).metadata?.labels).toEqual(OF_PODS);
  });

  test('of a deployment are on its pods if an admin lists their keys', () => {
    const pod_label_keys = ['team', 'absent', 'app.kubernetes.io/part-of'];
    const objects = rendered({}, { labels, podSettings: aSetting({ pod_label_keys }) });
    expect(podOf(objects).metadata?.labels).toEqual({ team: 'ml', ...OF_PODS });
    expect(deploymentOf(objects).selector).toEqual({ matchLabels: { 'fleet/deployment': expect.any(String) } });
  });

  test('of a cluster come before those of a deployment, on objects and pods', () => {
    const object_labels = { team: 'platform', zone: 'b' };
    const given = { labels: { team: 'ml' }, podSettings: aSetting({ object_labels, pod_label_keys: ['team'] }) };
    const objects = rendered({}, given, { object_labels });
    expect(objects.map(({ metadata }) => metadata?.labels)).toEqual([{ ...object_labels, ...OWN }]);
    expect(podOf(objects).metadata?.labels).toEqual({ ...object_labels, ...OF_PODS });
  });

  test('of a volume are on its claim, which all deployments that use it render alike', () => {
    const volumes = [aVolume({ labels: { team: 'ml', 'fleet/storage': 'another' } })];
    const [one, other] = ['web', 'batch'].map((name) =>
      ofKind(rendered(volume, { name, labels: { team: name }, volumes }), 'PersistentVolumeClaim'),
    );
    expect(one).toEqual(other);
    expect(one?.[0]?.metadata?.labels).toMatchObject({ team: 'ml', 'fleet/storage': volumes[0]?.id });
  });
});

test('annotations of a cluster are on its objects and pods, beside those of the fleet', () => {
  const object_annotations = { 'example.com/owner': 'team platform' };
  const given = { restarted_at: '2026-01-02T03:04:05.678Z', podSettings: aSetting({ object_annotations }) };
  const objects = rendered(volume, given, { object_annotations });
  for (const { metadata } of objects) expect(metadata?.annotations).toMatchObject(object_annotations);
  expect(podOf(objects).metadata?.annotations).toEqual({
    ...object_annotations,
    'fleet/restarted-at': '2026-01-02T03:04:05.678Z',
  });
});

describe('the account, pull secrets and priority class of a cluster', () => {
  const settings = aSetting({
    service_account: 'apps',
    allow_service_account_tokens: true,
    pull_secrets: ['mirror'],
    priority_class: 'low',
  });

  test('are those of its pods, without a token of the account', () => {
    expect(podOf(rendered({ registry_credentials: 'registry' }, { podSettings: settings })).spec).toMatchObject({
      serviceAccountName: 'apps',
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'web-decade01-pull' }, { name: 'mirror' }],
      priorityClassName: 'low',
    });
  });

  test.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])('a pod has a token only if the workload requests it (%p) and the cluster allows it (%p)', (asks, allows, has) => {
    const podSettings = aSetting({ allow_service_account_tokens: allows });
    const { spec } = podOf(rendered({ service_account_token: asks }, { podSettings }));
    expect(spec?.automountServiceAccountToken).toBe(has);
  });

  test('do not change pods with older defaults', () => {
    const older = podOf(rendered({ service_account_token: true }, { defaults: 3, podSettings: settings }));
    expect(older).toEqual(podOf(rendered({}, { defaults: 3 })));
  });
});

describe('replicas', () => {
  const budgetsOf = (given: Partial<Rendering<'values'>>, cluster: Partial<Cluster> = {}, spec = {}) =>
    ofKind(rendered(spec, given, { disruption_budgets: 'with_unhealthy', ...cluster }), 'PodDisruptionBudget');

  test('of two or more have a budget that permits one missing pod, and pods that are not ready', () => {
    expect(budgetsOf({ replicas: 2 })).toEqual([
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: expect.objectContaining({ name: 'web-decade01', labels: OWN }),
        spec: {
          maxUnavailable: 1,
          selector: { matchLabels: { 'fleet/deployment': expect.any(String) } },
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
        },
      },
    ]);
    expect(budgetsOf({ replicas: 3 }, { disruption_budgets: 'basic' })[0]?.spec).not.toHaveProperty(
      'unhealthyPodEvictionPolicy',
    );
  });

  test('have no budget if there is one, if it is a job, or if the cluster has none', () => {
    expect(budgetsOf({ replicas: 1 })).toEqual([]);
    expect(budgetsOf({ replicas: 0 })).toEqual([]);
    expect(budgetsOf({ replicas: 2 }, {}, { kind: 'job' })).toEqual([]);
    expect(budgetsOf({ replicas: 2 }, { disruption_budgets: null })).toEqual([]);
  });

  test('prefer different nodes, whatever their number, except with older defaults', () => {
    const spreadOf = (given: Partial<Rendering<'values'>>) => podOf(render({}, given)).spec?.topologySpreadConstraints;
    expect(spreadOf({ replicas: 1 })).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'fleet/deployment': expect.any(String) } },
      },
    ]);
    expect(spreadOf({ replicas: 5 })).toEqual(spreadOf({ replicas: 1 }));
    expect(spreadOf({ defaults: 3 })).toBeUndefined();
  });
});

describe('the probes of a health check', () => {
  const env = [{ name: 'SVC_HEALTH_CHECK', value: 'tcp:5432' }];
  const probesOf = (spec: Partial<WorkloadSpec>) => {
    const { readinessProbe, startupProbe, livenessProbe } = containerOf(rendered({ env, ...spec })) ?? {};
    return { readinessProbe, startupProbe, livenessProbe };
  };
  const probe = { tcpSocket: { port: 5432 }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };

  test.each<[string, Partial<WorkloadSpec>, number | undefined, boolean]>([
    ['nothing else', {}, undefined, false],
    ['a start period', { start_period_seconds: 95 }, 10, false],
    ['a restart of an unhealthy container', { restart_unhealthy: true }, 180, true],
    ['both', { start_period_seconds: 600, restart_unhealthy: true }, 60, true],
  ])('with %s', (_, spec, startupFailures, isLive) => {
    expect(probesOf(spec)).toEqual({
      readinessProbe: probe,
      startupProbe: startupFailures === undefined ? undefined : { ...probe, failureThreshold: startupFailures },
      livenessProbe: isLive ? probe : undefined,
    });
  });

  test('do not exist without a health check', () => {
    expect(probesOf({ env: [], start_period_seconds: 60, restart_unhealthy: true })).toEqual({});
  });
});

describe('the limits of a workload', () => {
  test.each<[string, Partial<WorkloadSpec>, object]>([
    [
      'are beside its requests',
      { cpu_request: '500m', cpu_limit: '2', memory_request: '1Gi', memory_limit: '2Gi' },
      { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
    ],
    [
      'reserve nothing without requests',
      { cpu_limit: '0.5', memory_limit: '2Gi' },
      { requests: { cpu: '0', memory: '0' }, limits: { cpu: '500m', memory: '2Gi' } },
    ],
    [
      'are as before without them',
      { cpu_request: '1', memory_request: '1Gi' },
      { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } },
    ],
  ])('%s', (_, spec, resources) => {
    expect(containerOf(rendered(spec))?.resources).toEqual(resources);
  });

  test('are refused below the requests', () => {
    const spec = aSpec({ cpu_request: '500m', cpu_limit: '0.3', memory_request: '1Gi', memory_limit: '1000Mi' });
    expect(specProblems(spec)).toEqual([
      { path: 'cpu_limit', message: 'must not be less than the requested CPU, which is 500m' },
      { path: 'memory_limit', message: 'must not be less than the requested memory, which is 1Gi' },
    ]);
    expect(specProblems(aSpec({ cpu_request: '300m', cpu_limit: '0.3', memory_limit: '1Gi' }))).toEqual([]);
  });
});

describe('the security profile', () => {
  const contextOf = (spec: Partial<WorkloadSpec>) => containerOf(rendered(spec))?.securityContext;
  const podSpecOf = (spec: Partial<WorkloadSpec>) => podOf(rendered({ ...volume, ...spec })).spec ?? { containers: [] };
  const everything = {
    ports: [{ containerPort: 80, protocol: 'TCP' }],
    env: [{ name: 'SVC_SHM_SIZE', value: '1Gi' }],
    gpu_count: 1,
  };

  test('restricted has no capabilities and no root, and complies with the Pod Security Standard', () => {
    expect(contextOf({ security_profile: 'restricted' })).toEqual({
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(violationsOf(podSpecOf({ ...everything, security_profile: 'restricted' }), 'restricted')).toEqual([]);
    const withUser = { ...everything, security_profile: 'restricted', run_as: '1000:2000' };
    expect(violationsOf(podSpecOf(withUser), 'restricted')).toEqual([]);
  });

  test('baseline complies with the Pod Security Standard baseline, and not with restricted', () => {
    expect(violationsOf(podSpecOf(everything), 'baseline')).toEqual([]);
    expect(violationsOf(podSpecOf(everything), 'restricted')).toEqual(['runAsNonRoot', 'unrestricted capabilities']);
  });

  test.each([
    ['1000', { runAsUser: 1000 }],
    ['1000:2000', { runAsUser: 1000, runAsGroup: 2000 }],
    ['0:0', { runAsUser: 0, runAsGroup: 0 }],
  ])('run_as %s sets the user and the group', (run_as, expected) => {
    expect(contextOf({ run_as })).toMatchObject(expected);
    expect(contextOf({ run_as: null })).not.toHaveProperty('runAsUser');
  });

  test('restricted with the user 0 is refused', () => {
    const root = { path: 'run_as', message: expect.stringMatching(/must not be 0/) };
    expect(specProblems(aSpec({ security_profile: 'restricted', run_as: '0:1000' }))).toEqual([root]);
    expect(specProblems(aSpec({ security_profile: 'baseline', run_as: '0' }))).toEqual([]);
  });
});
