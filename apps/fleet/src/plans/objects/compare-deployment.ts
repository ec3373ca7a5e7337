import { isDeepStrictEqual } from 'node:util';
import { type DeploymentDocument, type EnvRequest, NEW_UPDATES, type UpdatesInput } from '@svc/contract/fleet';
import type { DeploymentChange } from '../../deployments/changes.ts';
import { describedWorkload, revisionOf, type VolumeRequest } from '../../deployments/draft.ts';
import { acceptEnv, isSameEnv } from '../../deployments/env.ts';
import type { WorkloadRevision } from '../../deployments/plans/revision.ts';
import type { Refusal } from '../../deployments/refusals.ts';
import type { DeploymentRow } from '../../deployments/rows.ts';
import { policyOf } from '../../deployments/updates/policy.ts';
import { isSameSize } from '../../placement/quantities.ts';
import { storedSpec, withoutSealed } from '../../resources/workloads.ts';
import { type Names, problemOfTarget } from '../names.ts';

/** The values of members that a document had, and no longer has. */
const DEFAULTS = {
  labels: {},
  replicas: 1,
  autoscaling: null,
  scaled_by: 'fleet',
  env: {},
  host_ports: {},
  desired_state: 'running',
  pull: 'auto',
} as const satisfies Partial<DeploymentDocument>;

export interface Compared {
  readonly document: DeploymentDocument;
  /** The document that was applied before; undefined: none. */
  readonly previous: DeploymentDocument | undefined;
  readonly row: DeploymentRow;
  /** The revision that the deployment runs, and the latest one of its workload. */
  readonly runs: WorkloadRevision;
  readonly latest: WorkloadRevision;
  readonly names: Names;
}

/** How a deployment differs from its document: the change, if there is one, and what cannot be changed. */
export interface Comparison {
  readonly change: DeploymentChange | undefined;
  readonly problems: readonly Refusal[];
}

/**
 * Compares a document with the stored state of its deployment. Members that it leaves out do not
 * differ, except those that the document before had.
 * @throws 400 and 422 for variables and descriptions that are not accepted
 */
export function compareDeployment(compared: Compared): Comparison {
  const { document, row } = compared;
  const problems = [...problemsOfPart(compared), ...problemsOfSource(compared), ...problemsOfTarget(compared)];
  if (problems.length > 0) return { change: undefined, problems };
  const members = { ...scalarsOf(compared), ...envOf(compared), ...volumesOf(compared), ...revisionToDeploy(compared) };
  if (Object.keys(members).length === 0) return { change: undefined, problems };
  const acknowledged = document.acknowledge;
  const message = `changed by a plan from revision ${row.revision}`;
  return { change: { operation: 'update', message, acknowledged, ...members }, problems };
}

export const refusal = (path: string, message: string): Refusal => ({ code: 'deployment_refused', path, message });

/** A part of an application is changed with it only. */
const problemsOfPart = ({ row: { application_name: application, part } }: Compared): Refusal[] =>
  application === null
    ? []
    : [refusal('name', `is the part ${part} of the application ${application}. Change the application`)];

/** What a deployment runs cannot be replaced by another source. */
function problemsOfSource({ document, row }: Compared): Refusal[] {
  const { template, workload, spec } = document;
  const other = 'Delete the deployment to create it from another source';
  if (template !== undefined && row.template_slug !== template) {
    const runs = row.template_slug === null ? `the workload ${row.workload_name}` : `the template ${row.template_slug}`;
    return [refusal('template', `cannot be changed: the deployment runs ${runs}. ${other}`)];
  }
  if (workload !== undefined && row.workload_name !== workload)
    return [refusal('workload', `cannot be changed: the deployment runs the workload ${row.workload_name}. ${other}`)];
  const isOwn = row.template_id === null && row.workload_name === row.name;
  if (spec === undefined || isOwn) return [];
  const runs = row.template_slug === null ? `the workload ${row.workload_name}` : `the template ${row.template_slug}`;
  return [refusal('spec', `must not be given: the deployment runs ${runs}. ${other}`)];
}

const problemsOfTarget = ({ document, row, names }: Compared): Refusal[] => {
  const problem = problemOfTarget(document, row, names);
  return problem === undefined ? [] : [refusal('target', problem)];
};

/** The members with values of their own that differ. */
function scalarsOf({ document, previous, row }: Compared) {
  const wanted = <M extends keyof typeof DEFAULTS>(member: M) =>
    document[member] === undefined && previous?.[member] !== undefined ? DEFAULTS[member] : document[member];
  const labels = wanted('labels');
  const replicas = wanted('replicas');
  const autoscaling = wanted('autoscaling');
  const scaledBy = wanted('scaled_by');
  const hostPorts = wanted('host_ports');
  const desiredState = wanted('desired_state');
  const pull = wanted('pull');
  const updates = updatesOf(document.updates, previous?.updates);
  const policy = policyOf(row);
  return {
    ...(labels !== undefined && !isDeepStrictEqual(labels, row.labels) && { labels }),
    ...(replicas !== undefined && replicas !== row.replicas && { replicas }),
    ...(autoscaling !== undefined && !isDeepStrictEqual(autoscaling, row.autoscaling) && { autoscaling }),
    ...(scaledBy !== undefined && scaledBy !== row.scaled_by && { scaledBy }),
    ...(hostPorts !== undefined && !isDeepStrictEqual(hostPorts, row.host_ports) && { hostPorts }),
    ...(desiredState !== undefined && desiredState !== row.desired_state && { desiredState }),
    ...(pull !== undefined && pull !== row.pull && { pull }),
    ...(updates !== undefined && !isDeepStrictEqual(policy, { ...policy, ...updates }) && { updates }),
  };
}

/** The policy of a document, with the defaults of what the document before had. */
function updatesOf(given: UpdatesInput | undefined, before: UpdatesInput | undefined): UpdatesInput | undefined {
  if (given === undefined && before === undefined) return undefined;
  const known = Object.keys(NEW_UPDATES) as (keyof UpdatesInput)[]; // the members of the constant
  const left = known.filter((member) => before?.[member] !== undefined && given?.[member] === undefined);
  return { ...Object.fromEntries(left.map((member) => [member, NEW_UPDATES[member]])), ...given };
}

function envOf({ document, previous, row }: Compared): { readonly env?: EnvRequest } {
  const env = document.env ?? (previous?.env === undefined ? undefined : DEFAULTS.env);
  if (env === undefined) return {};
  const accepted = acceptEnv(env, { secretVariables: row.secret_variables, before: row.env });
  return isSameEnv(accepted, row.env) ? {} : { env };
}

function volumesOf({ document, row, names }: Compared): { readonly volumes?: Readonly<Record<string, VolumeRequest>> } {
  const changed = Object.entries(document.volumes ?? {}).flatMap(
    ([mount, { size, volume }]): [string, VolumeRequest][] => {
      const present = Object.hasOwn(row.volumes, mount) ? row.volumes[mount] : undefined;
      const storage_id = volume === undefined ? undefined : names.idOf('volume', volume);
      const isSame =
        present !== undefined &&
        (storage_id === undefined || storage_id === present.storage_id) &&
        (size === undefined || isSameSize(size, present.size));
      return isSame
        ? []
        : [[mount, { ...(size !== undefined && { size }), ...(storage_id !== undefined && { storage_id }) }]];
    },
  );
  return changed.length === 0 ? {} : { volumes: Object.fromEntries(changed) };
}

/** The revision that a document selects, or that its description leads to. */
function revisionToDeploy({
  document,
  row,
  runs,
  latest,
}: Compared): Pick<DeploymentChange, 'revision' | 'newRevision'> {
  const { revision, spec } = document;
  if (spec === undefined) return revision === undefined || revision === row.revision ? {} : { revision };
  const content = describedWorkload(spec);
  const described = storedSpec.parse({ ...content.base.spec, ...content.overrides });
  const isSame = (one: WorkloadRevision) =>
    !one.spec.env.some(({ sealed }) => sealed !== undefined) &&
    isDeepStrictEqual(plain(withoutSealed(described)), plain(withoutSealed(one.spec)));
  if (isSame(runs)) return {};
  if (isSame(latest)) return { revision: latest.revision };
  const workload = revisionOf(content, { workloadId: row.workload_id, revision: latest.revision + 1 });
  return { newRevision: { workload, content } };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
