import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isolated, rich, t } from '../../shared/texts/texts.ts';
import { type AuditEntry, type FleetEndpointName, fleet } from '../api.ts';

/** The endpoints whose requests the list of changes contains. */
type Changing = Exclude<
  FleetEndpointName,
  | `get${string}`
  | `list${string}`
  | `read${string}`
  | `watch${string}`
  | `export${string}`
  | 'me'
  | 'startOidcLogin'
  | 'planDeployment'
  | 'planUpdateRun'
  | 'planApplication'
  | 'planTrust'
>;

interface Parts {
  readonly actor: ReactNode;
  /** The object that was changed. */
  readonly name: ReactNode;
}

const signedIn = ({ actor }: Parts) => rich('{actor} signed in', { actor });
const signedOut = ({ actor }: Parts) => rich('{actor} signed out', { actor });
const checkedSettings = ({ actor }: Parts) => rich('{actor} tested settings', { actor });
const removedOrphan = ({ actor, name }: Parts) => rich('{actor} removed an orphan of {name}', { actor, name });
const adoptedOrphan = ({ actor, name }: Parts) => rich('{actor} adopted an orphan as {name}', { actor, name });

/** What a successful request has done. */
const sentences: Readonly<Record<Changing, (parts: Parts) => ReactNode>> = {
  login: signedIn,
  openBrowserSession: signedIn,
  endOidcLogin: signedIn,
  finishOidcLogin: signedIn,
  exchangeOidcCode: signedIn,
  connectProgram: ({ actor }) => rich('{actor} connected svc', { actor }),
  exchangeSignInCode: signedIn,
  refresh: ({ actor }) => rich('{actor} renewed a session', { actor }),
  logout: signedOut,
  endBrowserSession: signedOut,
  endOwnSession: ({ actor }) => rich('{actor} ended one of their sessions', { actor }),
  endOwnSessions: ({ actor }) => rich('{actor} signed out everywhere', { actor }),
  changeOwnPassword: ({ actor }) => rich('{actor} changed their password', { actor }),
  acceptInvitation: ({ actor }) => rich('{actor} accepted an invitation', { actor }),
  syncCatalog: ({ actor }) => rich('{actor} synced the catalog', { actor }),
  importBundle: ({ actor }) => rich('{actor} imported the catalog from a bundle', { actor }),
  createUser: (parts) => rich('{actor} created the user {name}', { ...parts }),
  updateUser: (parts) => rich('{actor} changed the user {name}', { ...parts }),
  deleteUser: (parts) => rich('{actor} deleted the user {name}', { ...parts }),
  inviteUser: (parts) => rich('{actor} invited {name}', { ...parts }),
  withdrawInvitation: (parts) => rich('{actor} withdrew the invitation of {name}', { ...parts }),
  createToken: (parts) => rich('{actor} created the token {name}', { ...parts }),
  reissueToken: (parts) => rich('{actor} reissued the token {name}', { ...parts }),
  revokeToken: (parts) => rich('{actor} revoked the token {name}', { ...parts }),
  setOidcSettings: ({ actor }) => rich('{actor} changed the settings of the identity provider', { actor }),
  resetOidcSettings: ({ actor }) => rich('{actor} reset the settings of the identity provider', { actor }),
  testOidcSettings: checkedSettings,
  setHubSettings: ({ actor }) => rich('{actor} changed the settings of the hub', { actor }),
  resetHubSettings: ({ actor }) => rich('{actor} reset the settings of the hub', { actor }),
  testHubSettings: checkedSettings,
  setApprovalSettings: ({ actor }) => rich('{actor} changed which plans need approval', { actor }),
  setTrustPolicy: ({ actor }) => rich('{actor} changed the policy of trust', { actor }),
  trustPublisher: (parts) => rich('{actor} began to trust the publisher {name}', { ...parts }),
  updateTrustedPublisher: (parts) => rich('{actor} changed the trusted publisher {name}', { ...parts }),
  distrustPublisher: (parts) => rich('{actor} no longer trusts the publisher {name}', { ...parts }),
  importKeyring: (parts) => rich('{actor} imported a keyring of the publisher {name}', { ...parts }),
  extendKeyring: (parts) => rich('{actor} extended the keyring of the publisher {name}', { ...parts }),
  assignSlug: (parts) => rich('{actor} accepted another publisher of the template {name}', { ...parts }),
  createSource: (parts) => rich('{actor} created the source {name}', { ...parts }),
  updateSource: (parts) => rich('{actor} changed the source {name}', { ...parts }),
  deleteSource: (parts) => rich('{actor} deleted the source {name}', { ...parts }),
  checkSource: (parts) => rich('{actor} had the repository of the source {name} read', { ...parts }),
  rotateSource: (parts) => rich('{actor} replaced the secret of notifications of the source {name}', { ...parts }),
  notifySource: (parts) => rich('{actor} notified the source {name} of a push', { ...parts }),
  createWebhook: (parts) => rich('{actor} created the webhook {name}', { ...parts }),
  updateWebhook: (parts) => rich('{actor} changed the webhook {name}', { ...parts }),
  deleteWebhook: (parts) => rich('{actor} deleted the webhook {name}', { ...parts }),
  rotateWebhook: (parts) => rich('{actor} replaced the signing secret of the webhook {name}', { ...parts }),
  testWebhook: (parts) => rich('{actor} sent a test message to the webhook {name}', { ...parts }),
  redeliverWebhook: (parts) => rich('{actor} sent a message again to the webhook {name}', { ...parts }),
  runDoctor: ({ actor }) => rich('{actor} ran the diagnosis', { actor }),
  createSupportBundle: ({ actor }) => rich('{actor} created a support bundle', { actor }),
  createHost: (parts) => rich('{actor} added the host {name}', { ...parts }),
  updateHost: (parts) => rich('{actor} changed the host {name}', { ...parts }),
  deleteHost: (parts) => rich('{actor} removed the host {name}', { ...parts }),
  checkHost: (parts) => rich('{actor} checked the host {name}', { ...parts }),
  checkNewHost: ({ actor }) => rich('{actor} checked a host that is not registered', { actor }),
  removeHostOrphan: removedOrphan,
  adoptHostOrphan: adoptedOrphan,
  createCluster: (parts) => rich('{actor} added the cluster {name}', { ...parts }),
  updateCluster: (parts) => rich('{actor} changed the cluster {name}', { ...parts }),
  deleteCluster: (parts) => rich('{actor} removed the cluster {name}', { ...parts }),
  checkCluster: (parts) => rich('{actor} checked the cluster {name}', { ...parts }),
  checkNewCluster: ({ actor }) => rich('{actor} checked a cluster that is not registered', { actor }),
  removeClusterOrphan: removedOrphan,
  adoptClusterOrphan: adoptedOrphan,
  createWorkload: (parts) => rich('{actor} created the workload {name}', { ...parts }),
  updateWorkload: (parts) => rich('{actor} changed the workload {name}', { ...parts }),
  deleteWorkload: (parts) => rich('{actor} deleted the workload {name}', { ...parts }),
  createDeployment: (parts) => rich('{actor} deployed {name}', { ...parts }),
  updateDeployment: (parts) => rich('{actor} changed {name}', { ...parts }),
  deleteDeployment: (parts) => rich('{actor} deleted {name}', { ...parts }),
  startDeployment: (parts) => rich('{actor} started {name}', { ...parts }),
  stopDeployment: (parts) => rich('{actor} stopped {name}', { ...parts }),
  restartDeployment: (parts) => rich('{actor} restarted {name}', { ...parts }),
  scaleDeployment: (parts) => rich('{actor} scaled {name}', { ...parts }),
  rollbackDeployment: (parts) => rich('{actor} rolled {name} back', { ...parts }),
  upgradeDeployment: (parts) => rich('{actor} updated {name}', { ...parts }),
  checkDeploymentImage: (parts) => rich('{actor} asked the registry for the image of {name}', { ...parts }),
  abortRollout: (parts) => rich('{actor} ended the update of {name}, and restored the earlier version', { ...parts }),
  resumeRollout: (parts) => rich('{actor} continued the update of {name}', { ...parts }),
  createUpdateRun: (parts) => rich('{actor} started updates of several deployments', { ...parts }),
  cancelUpdateRun: (parts) => rich('{actor} cancelled updates of several deployments', { ...parts }),
  createPlan: (parts) => rich('{actor} planned changes of {name}', { ...parts }),
  applyPlan: (parts) => rich('{actor} applied a plan of {name}', { ...parts }),
  approvePlan: (parts) => rich('{actor} approved a plan of {name}', { ...parts }),
  rejectPlan: (parts) => rich('{actor} rejected a plan of {name}', { ...parts }),
  createApplication: (parts) => rich('{actor} created the application {name}', { ...parts }),
  updateApplication: (parts) => rich('{actor} changed the application {name}', { ...parts }),
  startApplication: (parts) => rich('{actor} started the application {name}', { ...parts }),
  stopApplication: (parts) => rich('{actor} stopped the application {name}', { ...parts }),
  restartApplication: (parts) => rich('{actor} restarted the application {name}', { ...parts }),
  scaleApplication: (parts) => rich('{actor} scaled the application {name}', { ...parts }),
  upgradeApplication: (parts) => rich('{actor} upgraded the application {name}', { ...parts }),
  rollbackApplication: (parts) => rich('{actor} rolled the application {name} back', { ...parts }),
  abortApplicationRollout: (parts) =>
    rich('{actor} ended the update of {name}, and restored the earlier version', { ...parts }),
  resumeApplicationRollout: (parts) => rich('{actor} continued the update of {name}', { ...parts }),
  deleteApplication: (parts) => rich('{actor} deleted the application {name}', { ...parts }),
  revealApplicationValue: (parts) => rich('{actor} revealed a value of {name}', { ...parts }),
  revealDeploymentValue: (parts) => rich('{actor} revealed a value of {name}', { ...parts }),
  createStorage: (parts) => rich('{actor} created the volume {name}', { ...parts }),
  updateStorage: (parts) => rich('{actor} changed the volume {name}', { ...parts }),
  deleteStorage: (parts) => rich('{actor} deleted the volume {name}', { ...parts }),
  createSecret: (parts) => rich('{actor} created the secret {name}', { ...parts }),
  updateSecret: (parts) => rich('{actor} changed the secret {name}', { ...parts }),
  deleteSecret: (parts) => rich('{actor} deleted the secret {name}', { ...parts }),
};

const isChanging = (name: string | undefined): name is Changing => name !== undefined && name in sentences;

/** An entry of the list of changes as a sentence. */
export function sentenceOf(entry: AuditEntry): ReactNode {
  const { actor: caller, method, path, status } = entry;
  const actor = <strong>{caller === '' ? t('unknown account') : caller}</strong>;
  const request = (
    <code>
      {isolated(method)} {path}
    </code>
  );
  if (method === 'COMMAND') return rich('{actor} ran the command {command}', { actor, command: <code>{path}</code> });
  const endpoint = fleet.endpointOf(method, path);
  if (status >= 500) return rich('A request of {actor} failed: {request}', { actor, request });
  if (status >= 400) {
    return isChanging(endpoint) && sentences[endpoint] === signedIn
      ? rich('The sign-in of {actor} was rejected', { actor })
      : rich('A request of {actor} was rejected: {request}', { actor, request });
  }
  if (!isChanging(endpoint)) return rich('{actor} sent {request}', { actor, request });
  return sentences[endpoint]({ actor, name: <ObjectOf entry={entry} /> });
}

/** The lists whose objects have a page with the same path as in the API. */
const OBJECT = /^\/api\/v1(\/(?:deployments|hosts|clusters|workloads)\/[^/]+)/;

/** The object of a change, by its name, or by its id if the name is not known. */
function ObjectOf({ entry: { method, path, object_name } }: { readonly entry: AuditEntry }) {
  const [, page] = OBJECT.exec(path) ?? [];
  const label = object_name ?? path.split('/')[4] ?? t('an object');
  return page === undefined || method === 'DELETE' ? <strong>{label}</strong> : <Link href={page}>{label}</Link>;
}
