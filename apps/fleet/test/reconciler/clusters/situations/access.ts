// Situations of the registration: credentials, permissions and namespaces.
import { expect } from '@jest/globals';
import { eventually } from '@svc/testing';
import { createFleetAccount } from '../../../../../../infra/cluster/lab/roles.mjs';
import { aNamespace } from '../any-cluster.ts';
import { MERGE } from './kube.ts';
import { deleted, type Outcome, refusalOf } from './outcome.ts';
import { aProgram, type Shown, WAIT } from './places.ts';
import { type Situation, situation } from './situation.ts';

const CREDENTIALS = /correct the credentials or the permissions of the fleet/;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const TEN_MINUTES = 600;

export const access: readonly Situation[] = [
  situation(
    'the registration of a cluster',
    'register with the documented role',
    { phase: 'online' },
    async ({ aPlace }) => {
      const outcome = await (await aPlace()).clusterOutcome();
      expect(outcome.conditions).toEqual([]);
      return outcome;
    },
  ),
  situation(
    'the same namespace twice',
    'register the cluster again with the namespace',
    { phase: 'refused', reason: '409 already_registered', remedy: /is already registered/ },
    async ({ aPlace, fleet, registration, adminToken }) => {
      const { namespace } = await aPlace();
      return refusalOf(await fleet.api.post('/api/v1/clusters', registration(namespace, adminToken)));
    },
  ),
  situation(
    'a PUT of the namespace of another registration',
    'change the namespace to that of another registration of the cluster',
    { phase: 'refused', reason: '409 already_registered', remedy: /is already registered/ },
    async ({ aPlace, fleet }) => {
      const [one, other] = [await aPlace(), await aPlace()];
      const body = { namespace: other.namespace };
      return refusalOf(await fleet.api.put(`/api/v1/clusters/${one.clusterId}`, body));
    },
  ),
  situation(
    'a PUT of the namespace while something runs',
    'change the namespace of a cluster with a deployment',
    { phase: 'refused', reason: '409 in_use', remedy: /./ },
    async ({ aPlace, fleet }) => {
      const place = await aPlace();
      await place.is(await place.deploy(aProgram()), 'running');
      return refusalOf(await fleet.api.put(`/api/v1/clusters/${place.clusterId}`, { namespace: aNamespace() }));
    },
  ),
  situation(
    'a PUT of a free namespace',
    'change the namespace, and deploy',
    { phase: 'running' },
    async ({ aPlace, kube, adminToken, fleet }) => {
      const place = await aPlace({ token: adminToken });
      const namespace = aNamespace();
      await fleet.good(fleet.api.put(`/api/v1/clusters/${place.clusterId}`, { namespace }));
      await place.check();
      const id = await place.deploy(aProgram());
      const shown = await place.is(id, 'running');
      const { items } = await kube('GET', `/api/v1/namespaces/${namespace}/pods`);
      expect(items).toHaveLength(1);
      const outcome = await place.outcome(shown);
      await place.removed(id);
      await kube('DELETE', `/api/v1/namespaces/${namespace}`);
      return outcome;
    },
  ),
  situation(
    'credentials that expire soon',
    'register with a token for ten minutes; then replace it',
    {
      phase: 'online',
      says: /CredentialsValid=False: The credentials of the fleet expire at/,
      remedy: /Send a PUT with a new auth/,
    },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const request = { spec: { expirationSeconds: TEN_MINUTES } };
      const { status } = await kube('POST', place.core('serviceaccounts/fleet/token'), request);
      await place.set({ auth: { kind: 'token', token: status.token } });
      const outcome = await place.clusterOutcome();
      const token = await createFleetAccount(kube.ask, place.namespace);
      await place.set({ auth: { kind: 'token', token } });
      expect((await place.clusterOutcome()).conditions).toEqual([]);
      return { ...outcome, after: 'online with a new token' };
    },
  ),
  situation(
    'a permission that is revoked and restored',
    'delete the RoleBinding; then create it again',
    { phase: 'running', reason: 'AuthFailed', says: /lack permission to/, remedy: CREDENTIALS },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      await kube('DELETE', `${RBAC}/namespaces/${place.namespace}/rolebindings/fleet`);
      const lacksPermissions = ({ conditions }: Outcome) =>
        conditions.some((each) => each.startsWith('Permitted=False'));
      await eventually('the check reports it', () => place.clusterOutcome(), { ...WAIT, until: lacksPermissions });
      await place.reconcileNow(id);
      const failed = await place.until(id, 'reports the permission', ({ reason }) => reason === 'AuthFailed');
      const outcome = await place.outcome(failed);
      await createFleetAccount(kube.ask, place.namespace);
      // RBAC of the API server follows with a delay of less than a second.
      await eventually(
        'the permissions are complete',
        async () => (await place.clusterOutcome()).conditions.length === 0,
        WAIT,
      );
      await place.is(id, 'running');
      return { ...outcome, after: 'running after the next check' };
    },
  ),
  situation(
    'an account that is deleted',
    'delete the ServiceAccount of the fleet; then send a new token',
    { phase: 'unreachable', says: /does not accept the credentials/, remedy: /Send a PUT with a new auth/ },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      await kube('DELETE', place.core('serviceaccounts/fleet'));
      const outcome = await eventually('the token is refused', () => place.clusterOutcome(), {
        ...WAIT,
        until: ({ phase }) => phase === 'unreachable',
      });
      const { texts } = await place.outcome(id);
      const token = await createFleetAccount(kube.ask, place.namespace);
      await place.set({ auth: { kind: 'token', token } });
      await eventually('it is online', async () => (await place.clusterOutcome()).phase === 'online', WAIT);
      await place.is(id, 'running');
      return { ...outcome, texts: outcome.texts + texts, after: 'online with a new token, the deployment runs' };
    },
  ),
  situation(
    'a namespace that is deleted while a deployment runs',
    'delete the namespace; the fleet may create it again',
    { phase: 'running' },
    async ({ aPlace, kube, adminToken }) => {
      const place = await aPlace({ token: adminToken });
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      const [{ metadata }] = await place.objects(id, place.core('pods'));
      await kube('DELETE', `/api/v1/namespaces/${place.namespace}`);
      const shown = await place.until(
        id,
        'runs again',
        ({ phase, instances }) => phase === 'running' && instances.every(({ name }) => name !== metadata.name),
      );
      return place.outcome(shown);
    },
  ),
  situation(
    'a namespace that is deleted with the account of the fleet',
    'delete the namespace of the documented role; then apply the role again and send a new token',
    { phase: 'unreachable', says: /does not accept the credentials/, remedy: /Send a PUT with a new auth/ },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      await kube('DELETE', `/api/v1/namespaces/${place.namespace}`);
      const outcome = await eventually('the token is refused', () => place.clusterOutcome(), {
        ...WAIT,
        until: ({ phase }) => phase === 'unreachable',
      });
      const { texts } = await place.outcome(id);
      const isGone = async () => (await kube.ask('GET', `/api/v1/namespaces/${place.namespace}`)).status === 404;
      await eventually('the namespace is gone', isGone, WAIT);
      const token = await createFleetAccount(kube.ask, place.namespace);
      await place.set({ auth: { kind: 'token', token } });
      await eventually('it is online', async () => (await place.clusterOutcome()).phase === 'online', WAIT);
      await place.is(id, 'running');
      return { ...outcome, texts: outcome.texts + texts, after: 'online, and the deployment runs again' };
    },
  ),
  situation(
    'a finalizer that blocks the deletion',
    'a finalizer of another program on the Deployment; delete; then remove it',
    { phase: 'deleting', says: /\(Deployment\)/, remedy: /is overdue: check its finalizers/ },
    async ({ aPlace, kube, fleet }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram());
      await place.is(id, 'running');
      const [{ metadata }] = await place.objects(id, place.apps('deployments'));
      const path = place.apps(`deployments/${metadata.name}`);
      await kube('PATCH', path, { metadata: { finalizers: ['lab.example.test/keep'] } }, MERGE);
      await fleet.good(fleet.api.delete(`/api/v1/deployments/${id}`));
      const isOverdue = ({ phase, message }: Shown) => phase === 'deleting' && /is overdue/.test(message);
      const outcome = await place.outcome(await place.until(id, 'waits for its removal', isOverdue));
      await kube('PATCH', path, { metadata: { finalizers: null } }, MERGE);
      const isGone = async () => (await fleet.api.get(`/api/v1/deployments/${id}`)).status === 404;
      await eventually('it is gone', isGone, WAIT);
      return { ...outcome, after: 'deleted after the finalizer was removed' };
    },
  ),
  situation(
    'the deletion of a deployment with a volume',
    'delete; nothing of it remains in the namespace',
    { phase: 'deleted' },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const mounts = { volume_mounts: [{ name: 'data', mountPath: '/data' }], ports: [{ containerPort: 80 }] };
      const id = await place.deploy(aProgram(undefined, mounts));
      await place.is(id, 'running');
      await place.removed(id);
      const left = async (path: string) => (await kube('GET', path)).items.length;
      for (const resource of ['pods', 'services', 'persistentvolumeclaims']) {
        expect({ resource, left: await left(place.core(resource)) }).toEqual({ resource, left: 0 });
      }
      expect(await left(place.apps('deployments'))).toBe(0);
      return deleted();
    },
  ),
];
