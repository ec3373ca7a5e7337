import type { DryRun } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import type { Database } from '../database/client.ts';
import type { KubernetesClient } from '../engines/kubernetes/client.ts';
import { dryRun } from '../engines/kubernetes/dry-run/dry-run.ts';
import type { Cluster } from '../generated/prisma/client.ts';
import type { StoredEnv } from '../render/env.ts';
import { type KubernetesManifest, renderKubernetes } from '../render/kubernetes.ts';
import { renderedCluster } from '../render/pod.ts';
import { secretsWithLengths } from '../render/secrets.ts';
import { openSealedValues } from '../resources/sealed-values.ts';
import { openValues } from '../resources/secrets.ts';
import { type ManifestObject, type Renderable, renderingOf, sealedIdsOf, titleOf } from './manifest.ts';
import type { DeploymentRow } from './rows.ts';
import { namesOfSecrets } from './values/secret-metadata.ts';

/** A planned change on a cluster, about which the cluster can be asked. */
export interface DryRunSubject {
  readonly cluster: Cluster;
  readonly renderable: Renderable;
  /** The objects that the plan shows. */
  readonly manifest: readonly ManifestObject[];
  /** The deployment before the change; undefined for a new one. */
  readonly before: Pick<DeploymentRow, 'id' | 'replicas' | 'desired_state'> | undefined;
  readonly replacesPods: boolean;
}

interface DryRunContext {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly clientOf: (cluster: Cluster) => Promise<KubernetesClient>;
  readonly caller: string;
  readonly signal: AbortSignal;
}

/**
 * Asks the cluster of a plan about its objects, outside of every transaction. The values of secrets
 * are replaced by placeholders of the same length.
 */
export async function askCluster(context: DryRunContext, subject: DryRunSubject): Promise<DryRun[]> {
  const { cluster, renderable, before, replacesPods } = subject;
  if (cluster.reachability === 'unreachable') {
    const message = `The cluster ${cluster.name} was unreachable at its last check. ${cluster.unreachable_reason}`;
    return notChecked(subject, 'unreachable', message.trim());
  }
  const manifest = await renderForDryRun(context, subject);
  if (manifest === undefined)
    return notChecked(subject, 'secrets', 'A secret of the deployment cannot be decrypted with the present keys.');
  // The check of the cluster reports it.
  const client = await context.clientOf(cluster).catch(() => undefined);
  if (client === undefined)
    return notChecked(subject, 'secrets', `The credentials of the cluster ${cluster.name} cannot be decrypted.`);
  return dryRun(client, {
    manifest,
    replicas: renderable.draft.replicas,
    before: before && { id: before.id, replicas: before.desired_state === 'stopped' ? 0 : before.replicas },
    replacesPods,
    caller: context.caller,
    signal: context.signal,
  });
}

/** The results of a cluster that is not asked about any object. */
export function notChecked(
  { manifest }: Pick<DryRunSubject, 'manifest'>,
  reason: DryRun['reason'],
  message: string,
): DryRun[] {
  return manifest.map((object) => ({ object: titleOf(object), result: 'not_checked', reason, message }));
}

/** Undefined if a value cannot be decrypted. */
async function renderForDryRun(
  { database: { client }, sealer }: DryRunContext,
  { renderable, cluster }: DryRunSubject,
): Promise<KubernetesManifest<'placeholders'> | undefined> {
  const { draft, bound } = renderable;
  const opened = await Promise.all([
    openValues(client, sealer, namesOfSecrets(draft, bound)),
    openSealedValues(client, sealer, sealedIdsOf(renderable)),
  ]).catch(() => undefined); // the pass of the reconciler reports it
  if (opened === undefined) return undefined;
  const secrets = secretsWithLengths(opened.flat(), (id) => lengthOfNew(draft.env, id));
  return renderKubernetes(renderingOf(renderable, secrets), renderedCluster.parse(cluster));
}

/** The length of a value that the creation or change generates. */
function lengthOfNew(env: StoredEnv, id: string): number {
  const generated = Object.values(env).find(
    (value) => typeof value === 'object' && 'generate' in value && value.id === id,
  );
  return typeof generated === 'object' && 'generate' in generated ? generated.generate : 0;
}
