// Situations of namespaces with policies: admission, quotas, limit ranges, and settings of the cluster.
import { expect } from '@jest/globals';
import { eventually } from '@svc/testing';
import { MERGE } from './kube.ts';
import type { Lab } from './lab.ts';
import { type Outcome, refusalOf } from './outcome.ts';
import { aProgram, type Place, type Shown, WAIT } from './places.ts';
import { corrected } from './programs.ts';
import { type Situation, situation } from './situation.ts';

const POLICY = /Correct the workload, or the policy or setting of the cluster/;
const RESTRICTED = { security_profile: 'restricted', run_as: '65534:65534' };

const labelled = ({ kube }: Lab, { namespace }: Place, labels: Readonly<Record<string, string | null>>) =>
  kube('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { labels } }, MERGE);

const aQuota = ({ kube }: Lab, place: Place, hard: object) =>
  kube('POST', place.core('resourcequotas'), { metadata: { name: 'compute' }, spec: { hard } });

const aLimitRange = ({ kube }: Lab, place: Place, container: object) =>
  kube('POST', place.core('limitranges'), {
    metadata: { name: 'containers' },
    spec: { limits: [{ type: 'Container', ...container }] },
  });

/** Waits until what the outcome names is repaired. */
async function repaired(place: Place, outcome: Outcome, id: string, after: string): Promise<Outcome> {
  await place.is(id, 'running');
  return { ...outcome, after };
}

/** Deploys a program that is refused, and waits for the phase. */
async function refused(place: Place, spec: object, phase: string, reason: string): Promise<Shown> {
  const id = await place.deploy({ ...spec });
  return place.is(id, phase, reason);
}

/** What the dry runs of a plan say that was refused or not checked. */
async function plannedOutcome({ fleet }: Lab, place: Place, spec: object): Promise<Outcome> {
  const plan = await fleet.plan(place.requested({ ...spec }));
  expect({ ok: plan.ok, refusals: plan.refusals }).toEqual({ ok: true, refusals: [] });
  const answers: readonly { result: string; object: string; message: string }[] = plan.dry_run;
  const notPassed = answers.filter(({ result }) => result !== 'passed');
  return {
    phase: 'planned',
    reason: [...new Set(notPassed.map(({ result }) => result))].join(', ') || null,
    message: notPassed.map(({ object, message }) => `${object.replace(/\/.*/, '')}: ${message}`).join('; '),
    conditions: [],
    texts: JSON.stringify(plan),
  };
}

export const policies: readonly Situation[] = [
  situation(
    'admission that denies',
    'a webhook denies all workloads; then the policy is removed',
    { phase: 'failed', reason: 'InvalidSpec', says: /denies all workloads/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/deny': 'all' } });
      const { id, ...shown } = await refused(place, aProgram(), 'failed', 'InvalidSpec');
      const outcome = await place.outcome({ id, ...shown });
      await labelled(lab, place, { 'cluster.test/deny': null });
      await lab.fleet.ask(id, 'restart');
      return repaired(place, outcome, id, 'running after the policy was removed, with a restart');
    },
  ),
  situation(
    'a tag that a policy denies',
    'a webhook denies images with the tag latest',
    { phase: 'failed', reason: 'InvalidSpec', says: /must have a tag other than "latest"/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/deny': 'latest-tag' } });
      const spec = aProgram(undefined, { image_tag: 'latest' });
      return corrected(place, await refused(place, spec, 'failed', 'InvalidSpec'));
    },
  ),
  situation(
    'a job that admission denies',
    'a webhook denies the pod of a job by Pod Security',
    { phase: 'retrying', reason: 'InvalidSpec', says: /violates PodSecurity "restricted:latest"/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
      const shown = await refused(place, aProgram('exit 0', { kind: 'job' }), 'retrying', 'InvalidSpec');
      const outcome = await place.outcome(shown);
      await place.revise(shown.id, RESTRICTED);
      await place.is(shown.id, 'stopped', 'Completed');
      return { ...outcome, after: 'completed with the profile restricted' };
    },
  ),
  situation(
    'a webhook that changes the image',
    'images of Docker Hub come from a mirror',
    { phase: 'running', says: /ImageChangedByCluster=True: The cluster runs mirror\.cluster\.test/ },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/mutate': 'image' } });
      const id = await place.deploy(aProgram());
      return place.outcome(await place.is(id, 'running'));
    },
  ),
  situation(
    'a webhook that adds annotations',
    'the fleet does not apply the object again and again',
    { phase: 'running' },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/mutate': 'annotation' } });
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      const versions = async () =>
        (await place.objects(id, place.apps('deployments'))).map(({ metadata }: Versioned) => metadata.resourceVersion);
      const before = await versions();
      const observedAt = async () =>
        (await lab.fleet.database.client.deployment.findUniqueOrThrow({ where: { id } })).observed_at?.getTime() ?? 0;
      const last = await observedAt();
      await place.reconcileNow(id);
      await eventually('it is reconciled again', async () => (await observedAt()) > last, WAIT);
      expect(await versions()).toEqual(before);
      return place.outcome(id);
    },
  ),
  situation(
    'a webhook that does not support dry runs',
    'plan, then deploy',
    { phase: 'running', says: /not checked/ },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/side-effects': 'any' } });
      const planned = await plannedOutcome(lab, place, aProgram());
      expect(planned).toMatchObject({
        reason: 'not_checked',
        message: expect.stringContaining('does not support dry run'),
      });
      const id = await place.deploy(aProgram());
      const outcome = await place.outcome(await place.is(id, 'running'));
      return {
        ...outcome,
        conditions: [`the plan: not checked, ${planned.message}`],
        texts: outcome.texts + planned.texts,
      };
    },
  ),
  situation(
    'a webhook that cannot be reached',
    'the API server cannot connect to it; then it is removed',
    {
      phase: 'retrying',
      reason: 'EngineError',
      says: /webhook unreachable\.cluster\.test did not answer/,
      remedy: /Repair the webhook/,
    },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/unreachable': 'any' } });
      const shown = await refused(place, aProgram(), 'retrying', 'EngineError');
      const outcome = await place.outcome(shown);
      await labelled(lab, place, { 'cluster.test/unreachable': null });
      return repaired(place, outcome, shown.id, 'running by itself after the webhook was removed');
    },
  ),
  situation(
    'a webhook that times out',
    'a webhook for pods at an address where nothing answers; then it is removed',
    {
      phase: 'retrying',
      reason: 'EngineError',
      says: /failed calling webhook "slow\.cluster\.test"/,
      remedy: /correct the cause in the cluster/,
    },
    async (lab) => {
      const { kube } = lab;
      const place = await lab.aPlace({ labels: { 'cluster.test/slow': 'any' } });
      const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
      const name = `slow-${place.namespace}`;
      await kube('POST', path, {
        ...{ apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } },
        webhooks: [
          {
            ...{ name: 'slow.cluster.test', sideEffects: 'None', failurePolicy: 'Fail', timeoutSeconds: 1 },
            ...{ admissionReviewVersions: ['v1'], clientConfig: { url: 'https://10.210.0.250:9443/' } },
            namespaceSelector: {
              matchLabels: { 'kubernetes.io/metadata.name': place.namespace, 'cluster.test/slow': 'any' },
            },
            rules: [{ operations: ['CREATE'], resources: ['pods'], apiGroups: [''], apiVersions: ['v1'] }],
          },
        ],
      });
      try {
        await labelled(lab, place, { 'kubernetes.io/metadata.name': place.namespace });
        const shown = await refused(place, aProgram(), 'retrying', 'EngineError');
        const outcome = await place.outcome(shown);
        await kube('DELETE', `${path}/${name}`);
        return await repaired(place, outcome, shown.id, 'running by itself after the webhook was removed');
      } finally {
        await kube('DELETE', `${path}/${name}`);
      }
    },
  ),
  situation(
    'a quota on requests that is used up',
    'requests.cpu of the quota is 100m, the workload requests 200m; then the quota is raised',
    { phase: 'retrying', reason: 'Unschedulable', says: /exceeded quota: compute/, remedy: /Free or add capacity/ },
    async (lab) => {
      const place = await lab.aPlace();
      await aQuota(lab, place, { 'requests.cpu': '100m' });
      const shown = await refused(place, aProgram(undefined, { cpu_request: '200m' }), 'retrying', 'Unschedulable');
      const outcome = await place.outcome(shown);
      await lab.kube('PATCH', place.core('resourcequotas/compute'), { spec: { hard: { 'requests.cpu': '1' } } }, MERGE);
      return repaired(place, outcome, shown.id, 'running by itself after the quota was raised');
    },
  ),
  situation(
    'a quota in a plan',
    'plan a workload with more requests.cpu than the quota has',
    { phase: 'planned', reason: 'refused', says: /requests\.cpu: 1 replica needs/, remedy: /are free/ },
    async (lab) => {
      const place = await lab.aPlace();
      await aQuota(lab, place, { 'requests.cpu': '100m' });
      return plannedOutcome(lab, place, aProgram(undefined, { cpu_request: '200m' }));
    },
  ),
  situation(
    'a quota on limits without a limit',
    'limits.cpu has a quota, and the workload has no cpu_limit; then it has one',
    { phase: 'retrying', reason: 'InvalidSpec', says: /must specify limits\.cpu/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace();
      await aQuota(lab, place, { 'limits.cpu': '1' });
      const shown = await refused(place, aProgram(), 'retrying', 'InvalidSpec');
      return corrected(place, shown, { cpu_request: '10m', cpu_limit: '100m' });
    },
  ),
  situation(
    'a quota on limits with a LimitRange',
    'the LimitRange gives the limit that the quota requires',
    { phase: 'running' },
    async (lab) => {
      const place = await lab.aPlace();
      await aLimitRange(lab, place, { default: { cpu: '100m' }, defaultRequest: { cpu: '10m' } });
      await aQuota(lab, place, { 'limits.cpu': '1', 'requests.cpu': '500m' });
      const id = await place.deploy(aProgram());
      return place.outcome(await place.is(id, 'running'));
    },
  ),
  situation(
    'a LimitRange that limits the memory of pods',
    'uses_limit_range; the workload states no memory',
    { phase: 'running' },
    async (lab) => {
      const place = await lab.aPlace({ cluster: { uses_limit_range: true } });
      await aLimitRange(lab, place, { default: { memory: '48Mi' }, defaultRequest: { memory: '16Mi' } });
      const id = await place.deploy(aProgram(undefined, { memory_request: '' }));
      await place.is(id, 'running');
      const [pod] = await place.objects(id, place.core('pods'));
      expect(pod.spec.containers[0].resources.limits).toEqual({ memory: '48Mi' });
      return place.outcome(id);
    },
  ),
  situation(
    'a limit above the maximum of a LimitRange',
    'max cpu is 100m, the workload has cpu_limit 1',
    { phase: 'retrying', reason: 'InvalidSpec', says: /maximum cpu usage per Container is 100m/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace();
      await aLimitRange(lab, place, { max: { cpu: '100m' } });
      const shown = await refused(
        place,
        aProgram(undefined, { cpu_request: '10m', cpu_limit: '1' }),
        'retrying',
        'InvalidSpec',
      );
      return corrected(place, shown, { cpu_limit: '100m' });
    },
  ),
  situation(
    'Pod Security restricted',
    'deploy with the default profile baseline; then with restricted',
    { phase: 'retrying', reason: 'InvalidSpec', says: /violates PodSecurity "restricted:latest"/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
      return corrected(place, await refused(place, aProgram(), 'retrying', 'InvalidSpec'), RESTRICTED);
    },
  ),
  situation(
    'Pod Security in a plan',
    'plan with the default profile baseline',
    {
      phase: 'planned',
      reason: 'refused',
      says: /violates PodSecurity "restricted:latest"/,
      remedy: /must set securityContext/,
    },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
      return plannedOutcome(lab, place, aProgram());
    },
  ),
  situation(
    'a label that a policy requires on objects',
    'deploy without the label; then an admin sets it in object_labels of the cluster',
    { phase: 'failed', reason: 'InvalidSpec', says: /the label "team" is required/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/require-label': 'team' } });
      const shown = await refused(place, aProgram(), 'failed', 'InvalidSpec');
      const outcome = await place.outcome(shown);
      await place.set({ object_labels: { team: 'ml' } });
      await lab.fleet.ask(shown.id, 'restart');
      return repaired(place, outcome, shown.id, 'running with object_labels of the cluster');
    },
  ),
  situation(
    'a label that a policy requires on pods',
    'the deployment has the label; then an admin lists its key in pod_label_keys',
    { phase: 'retrying', reason: 'InvalidSpec', says: /the label "team" is required/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ labels: { 'cluster.test/require-pod-label': 'team' } });
      const id = await place.deploy(aProgram(), { labels: { team: 'ml' } });
      const outcome = await place.outcome(await place.is(id, 'retrying', 'InvalidSpec'));
      await place.set({ pod_label_keys: ['team'] });
      await lab.fleet.ask(id, 'restart');
      return repaired(place, outcome, id, 'running with pod_label_keys, after a restart');
    },
  ),
  situation(
    'a service account that does not exist',
    'the cluster has service_account absent; then it is created',
    { phase: 'retrying', reason: 'InvalidSpec', says: /serviceaccount "absent" not found/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ cluster: { service_account: 'absent' } });
      const shown = await refused(place, aProgram(), 'retrying', 'InvalidSpec');
      const outcome = await place.outcome(shown);
      await lab.kube('POST', place.core('serviceaccounts'), { metadata: { name: 'absent' } });
      return repaired(place, outcome, shown.id, 'running by itself after the account was created');
    },
  ),
  situation(
    'the account of the fleet for pods',
    'set service_account of the cluster to the account of the fleet',
    {
      phase: 'refused',
      reason: '400 validation_failed',
      says: /is the account of the fleet itself/,
      remedy: /use another account than fleet/,
    },
    async (lab) => {
      const place = await lab.aPlace();
      await place.check();
      return refusalOf(await lab.fleet.api.put(`/api/v1/clusters/${place.clusterId}`, { service_account: 'fleet' }));
    },
  ),
  situation(
    'a token of the account that no admin has allowed',
    'deploy a workload with service_account_token',
    { phase: 'refused', reason: 'no_placement', remedy: /target\.allow_service_account_tokens/ },
    async (lab) => {
      const place = await lab.aPlace();
      return place.refusedPlan(aProgram(undefined, { service_account_token: true }));
    },
  ),
  situation(
    'a priority class that does not exist',
    'the cluster has priority_class absent; then it has none',
    { phase: 'retrying', reason: 'InvalidSpec', says: /no PriorityClass with name absent was found/, remedy: POLICY },
    async (lab) => {
      const place = await lab.aPlace({ cluster: { priority_class: 'absent' } });
      const shown = await refused(place, aProgram(), 'retrying', 'InvalidSpec');
      const outcome = await place.outcome(shown);
      await place.set({ priority_class: null });
      await lab.fleet.ask(shown.id, 'restart');
      return repaired(place, outcome, shown.id, 'running without the class, after a restart');
    },
  ),
  situation(
    'a quota on Services',
    'the quota permits no Service; then one',
    {
      phase: 'degraded',
      reason: 'Unschedulable',
      says: /\(Service\) exceeds a resource quota/,
      remedy: /Free or add capacity/,
    },
    async (lab) => {
      const place = await lab.aPlace();
      await aQuota(lab, place, { services: '0' });
      const id = await place.deploy(aProgram(undefined, { ports: [{ containerPort: 80 }] }));
      const outcome = await place.outcome(await place.is(id, 'degraded', 'Unschedulable'));
      await lab.kube('PATCH', place.core('resourcequotas/compute'), { spec: { hard: { services: '1' } } }, MERGE);
      return repaired(place, outcome, id, 'running by itself after the quota was raised');
    },
  ),
  situation(
    'two namespaces with separate quotas',
    'the quota of one registration is used up, the other one runs',
    { phase: 'running', says: /the other one: retrying Unschedulable/ },
    async (lab) => {
      const [full, free] = [await lab.aPlace(), await lab.aPlace()];
      await aQuota(lab, full, { pods: '0' });
      await aQuota(lab, free, { pods: '1' });
      const id = await free.deploy(aProgram());
      const other = await refused(full, aProgram(), 'retrying', 'Unschedulable');
      const outcome = await free.outcome(await free.is(id, 'running'));
      return {
        ...outcome,
        conditions: [...outcome.conditions, `the other one: ${other.phase} ${other.reason}`],
        texts: outcome.texts + (await full.outcome(other)).texts,
      };
    },
  ),
];

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}
