import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import type { Ask } from '@svc/mcp';
import { createdApplication, isApplication } from './applications.ts';
import { findDeployment, findEither } from './find.ts';
import type { Handlers } from './types.ts';

const { createDeployment, updateDeployment, deleteDeployment, getDeployment, listStorage } = fleetEndpoints;

type Changes = 'create_deployment' | 'update_deployment' | 'control_deployment' | 'delete_deployment';

export const deploymentChanges: Pick<Handlers, Changes> = {
  create_deployment: ({ idempotency_key: idempotencyKey, ...given }, { ask }) =>
    isApplication(given)
      ? createdApplication(ask, given, idempotencyKey)
      : ask(createDeployment, { body: given, idempotencyKey }),
  update_deployment: async ({ deployment, version, ...given }, { ask }) =>
    ask(updateDeployment, { params: { id: await findDeployment(ask, deployment) }, body: given, version }),
  control_deployment: async ({ deployment, action, generation, version, ...planned }, { ask }) => {
    if (action !== 'rollback') refuseGiven({ generation }, 'rollback');
    if (action !== 'upgrade') refuseGiven(planned, 'upgrade');
    const { kind, id } = await findEither(ask, deployment);
    const asked = { params: { id }, version };
    if (kind === 'application') return controlApplication(ask, action, { ...asked, generation });
    switch (action) {
      case 'start':
        return ask(fleetEndpoints.startDeployment, asked);
      case 'stop':
        return ask(fleetEndpoints.stopDeployment, asked);
      case 'restart':
        return ask(fleetEndpoints.restartDeployment, asked);
      case 'rollback':
        return ask(fleetEndpoints.rollbackDeployment, { ...asked, body: { generation } });
      case 'upgrade':
        return ask(fleetEndpoints.upgradeDeployment, { ...asked, body: withDigest(planned) });
      case 'abort_rollout':
        return ask(fleetEndpoints.abortRollout, asked);
    }
  },
  delete_deployment: async ({ deployment: named, confirm: given, version }, { ask, confirm }) => {
    const params = { id: await findDeployment(ask, named) };
    const { deployment } = await ask(getDeployment, { params });
    const volumes = await volumesOf(ask, deployment.id);
    const { id, version: current, phase } = deployment;
    const subject = { id, version: current, lost: volumes.volumes_lost.map((volume) => volume.id) };
    const isAgreed = phase === 'deleting' || (await confirm(questionFor(deployment, volumes.volumes_lost), subject));
    if (!isAgreed && given !== deployment.name) return { deleted: false, deployment, ...volumes };
    // A deployment that somebody changes meanwhile is not what the user agreed to delete.
    const deleted = await ask(deleteDeployment, { params, version: version ?? current });
    return { deleted: true, ...deleted, ...volumes };
  },
};

interface Asked {
  readonly params: { readonly id: string };
  readonly version: number | undefined;
  readonly generation: number | undefined;
}

/** @throws 400 for an action that applications do not have */
function controlApplication(ask: Ask, action: string, { generation, ...asked }: Asked) {
  switch (action) {
    case 'start':
      return ask(fleetEndpoints.startApplication, asked);
    case 'stop':
      return ask(fleetEndpoints.stopApplication, asked);
    case 'restart':
      return ask(fleetEndpoints.restartApplication, asked);
    case 'rollback':
      return ask(fleetEndpoints.rollbackApplication, { ...asked, body: { generation } });
    case 'abort_rollout':
      return ask(fleetEndpoints.abortApplicationRollout, asked);
    default:
      throw invalid([
        { path: 'action', message: 'must be start, stop, restart, rollback or abort_rollout for an application' },
      ]);
  }
}

/** @throws 400 for arguments that belong to another action */
function refuseGiven(args: Readonly<Record<string, unknown>>, action: string): void {
  const given = Object.keys(args).filter((name) => args[name] !== undefined);
  if (given.length > 0) throw invalid(given.map((path) => ({ path, message: `must be given only for ${action}` })));
}

/** @throws 400 without the digest of a plan */
function withDigest<T extends { readonly expected?: string | undefined }>(planned: T) {
  const { expected } = planned;
  if (expected !== undefined) return { ...planned, expected };
  throw invalid([{ path: 'expected', message: 'is required for upgrade: the digest of a plan with upgrade' }]);
}

/** The volumes that are deleted with a deployment, and those that are retained. */
async function volumesOf(ask: Ask, id: string) {
  const { storage } = await ask(listStorage, { query: { deployment_id: id, limit: 100 } });
  return {
    volumes_lost: storage.filter(({ reclaim }) => reclaim === 'delete'),
    volumes_kept: storage.filter(({ reclaim }) => reclaim === 'retain'),
  };
}

function questionFor(
  { name, phase }: { readonly name: string; readonly phase: string },
  lost: readonly { readonly name: string; readonly size: string }[],
): string {
  const data = lost.map((volume) => `${volume.name} (${volume.size})`).join(', ');
  return `Delete the deployment "${name}" (${phase})? ${data === '' ? 'No data is lost.' : `The data of these volumes is lost: ${data}.`}`;
}
