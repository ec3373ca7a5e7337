import { isDeepStrictEqual } from 'node:util';
import {
  type ApplicationDocument,
  type ApplicationUpdatesInput,
  NEW_UPDATES,
  overridesReply,
  usesReply,
} from '@svc/contract/fleet';
import type { Content } from '../../applications/before.ts';
import type { ApplicationChange } from '../../applications/change.ts';
import type { ApplicationRow } from '../../applications/rows.ts';
import { policyOfApplication } from '../../applications/updates/policy.ts';
import type { Refusal } from '../../deployments/refusals.ts';
import type { DeploymentRow } from '../../deployments/rows.ts';
import { isSameSize } from '../../placement/quantities.ts';
import { type Names, problemOfTarget } from '../names.ts';
import { refusal } from './compare-deployment.ts';

/** The values of members that a document had, and no longer has. */
const DEFAULTS = {
  labels: {},
  inputs: {},
  replicas: {},
  overrides: {},
  use: {},
  desired_state: 'running',
  on_failure: 'auto',
} as const satisfies Partial<ApplicationDocument>;

const DEFAULT_UPDATES = {
  from: 'manual',
  window: NEW_UPDATES.window,
  ready_seconds: NEW_UPDATES.ready_seconds,
  deadline_seconds: NEW_UPDATES.deadline_seconds,
} as const satisfies ApplicationUpdatesInput;

interface Compared {
  readonly document: ApplicationDocument;
  /** The document that was applied before; undefined: none. */
  readonly previous: ApplicationDocument | undefined;
  readonly row: ApplicationRow;
  readonly content: Content;
  /** The deployments of its parts. */
  readonly parts: readonly DeploymentRow[];
  readonly names: Names;
}

/** How an application differs from its document: the change, if there is one, and what cannot be changed. */
interface Comparison {
  readonly change: ApplicationChange | undefined;
  readonly problems: readonly Refusal[];
}

/**
 * Compares a document with the stored state of its application. Members that it leaves out do not differ, except those that the
 * document before had.
 */
export function compareApplication(compared: Compared): Comparison {
  const { row } = compared;
  const { volumes, problems: ofVolumes } = volumesOf(compared);
  const problems = [...problemsOfSource(compared), ...problemsOfTarget(compared), ...ofVolumes];
  if (problems.length > 0) return { change: undefined, problems };
  const members = membersOf(compared);
  if (Object.keys(members).length === 0) return { change: undefined, problems };
  const message = `changed by a plan from generation ${row.generation}`;
  return { change: { operation: 'update', message, isWhole: true, volumes, ...members }, problems };
}

/** What an application consists of cannot be replaced by another source. */
function problemsOfSource({ document, row }: Compared): Refusal[] {
  const { application, spec } = document;
  const other = 'Delete the application to create it from another source';
  const present =
    row.catalog_slug === null
      ? 'has a specification of its own'
      : `is a copy of ${row.catalog_slug} of the catalog, which upgrades change`;
  if (application !== undefined && row.catalog_slug !== application)
    return [refusal('application', `cannot be changed: the application ${present}. ${other}`)];
  return spec !== undefined && row.catalog_slug !== null
    ? [refusal('spec', `must not be given: the application ${present}. ${other}`)]
    : [];
}

function problemsOfTarget({ document, parts, names }: Compared): Refusal[] {
  const placed = parts.find(({ target_name }) => target_name !== null);
  const { host_id = null, cluster_id = null, target_name = null } = placed ?? {};
  const problem = problemOfTarget(document, { host_id, cluster_id, target_name }, names);
  return problem === undefined ? [] : [refusal('target', problem)];
}

/** The members that differ. */
function membersOf({ document, previous, row, content }: Compared): Partial<ApplicationChange> {
  const wanted = <M extends keyof typeof DEFAULTS>(member: M) =>
    document[member] === undefined && previous?.[member] !== undefined ? DEFAULTS[member] : document[member];
  const labels = wanted('labels');
  const inputs = wanted('inputs');
  const replicas = wanted('replicas');
  const overrides = wanted('overrides');
  const use = wanted('use');
  const desiredState = wanted('desired_state');
  const onFailure = wanted('on_failure');
  const updates = updatesOf(document.updates, previous?.updates);
  const policy = policyOfApplication(row);
  const { spec } = document;
  return {
    ...(labels !== undefined && !isSame(labels, row.labels) && { labels }),
    ...(spec !== undefined && !isSame(spec, content.spec) && { spec }),
    ...(inputs !== undefined && !isSame(inputs, row.inputs) && { inputs }),
    ...(replicas !== undefined && !isSame(several(replicas), several(content.replicas)) && { replicas }),
    ...(overrides !== undefined && !isSame(withoutEmpty(overrides), withoutEmpty(row.overrides)) && { overrides }),
    ...(use !== undefined && !isSame(usesReply.parse(use), row.uses) && { use }),
    ...(desiredState !== undefined && desiredState !== row.desired_state && { desiredState }),
    ...(onFailure !== undefined && onFailure !== row.on_failure && { onFailure }),
    ...(updates !== undefined && !isSame(policy, { ...policy, ...updates }) && { updates }),
  };
}

/** As they are stored and read again. */
const isSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));

/** The parts with another number of replicas than 1. */
const several = (replicas: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(replicas).filter(([, count]) => count !== 1));

const withoutEmpty = (overrides: Readonly<Record<string, object>>) =>
  overridesReply.parse(
    Object.fromEntries(Object.entries(overrides).filter(([, each]) => Object.keys(each).length > 0)),
  );

/** The policy of a document, with the defaults of what the document before had. */
function updatesOf(
  given: ApplicationUpdatesInput | undefined,
  before: ApplicationUpdatesInput | undefined,
): ApplicationUpdatesInput | undefined {
  if (given === undefined && before === undefined) return undefined;
  const known = Object.keys(DEFAULT_UPDATES) as (keyof typeof DEFAULT_UPDATES)[]; // the members of the constant
  const left = known.filter((member) => before?.[member] !== undefined && given?.[member] === undefined);
  return { ...Object.fromEntries(left.map((member) => [member, DEFAULT_UPDATES[member]])), ...given };
}

/** The volumes for mounts that are new. A mount that exists keeps its volume. */
function volumesOf({ document: { volumes = {}, spec }, content, parts, names }: Compared) {
  const known = (spec ?? content.spec).parts.flatMap((part) =>
    part.volume_mounts.map((mount) => `${part.name}/${mount.name}`),
  );
  const problems: Refusal[] = [];
  const added: Record<string, { readonly size?: string | undefined; readonly storage_id?: string | undefined }> = {};
  for (const [path, { size, volume }] of Object.entries(volumes)) {
    if (!known.includes(path)) {
      const message = `is not a volume mount of the application, which has ${known.join(', ') || 'none'}`;
      problems.push(refusal(`volumes.${path}`, message));
      continue;
    }
    const [partName = '', mount = ''] = path.split('/');
    const mounts = parts.find(({ part }) => part === partName)?.volumes ?? {};
    const present = Object.hasOwn(mounts, mount) ? mounts[mount] : undefined;
    const storage_id = volume === undefined ? undefined : names.idOf('volume', volume);
    if (present === undefined) {
      added[path] = { ...(size !== undefined && { size }), ...(storage_id !== undefined && { storage_id }) };
      continue;
    }
    const isKept =
      (storage_id === undefined || storage_id === present.storage_id) &&
      (size === undefined || isSameSize(size, present.size));
    const message = `cannot be changed: the mount has a volume of ${present.size}, and keeps it`;
    if (!isKept) problems.push(refusal(`volumes.${path}`, message));
  }
  return { volumes: added, problems };
}
