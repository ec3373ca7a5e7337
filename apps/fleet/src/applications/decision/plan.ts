import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { listBindings } from '../../deployments/addresses/list.ts';
import {
  type ManifestObject,
  type Renderer,
  readRenderer,
  renderedManifest,
  renderingOf,
} from '../../deployments/manifest.ts';
import { readAdmission } from '../../deployments/networks/admission.ts';
import { changesBetween } from '../../deployments/templates/changelog.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { compareStrings } from '../../placement/format.ts';
import type { HostNetwork } from '../../render/allocation.ts';
import { imageReference } from '../../render/image.ts';
import { secretsWithPlaceholders } from '../../render/secrets.ts';
import { columnsOfTarget } from '../../resources/targets.ts';
import type { Before } from '../before.ts';
import { overriddenMembers } from '../overrides.ts';
import { presentCopy } from '../rows.ts';
import { type DecidedApplication, type DecidedPart, retiredParts } from './decide.ts';

type Plan = Reply<typeof fleetEndpoints.planApplication>;

/** What the API shows of a decision about an application. A refused one has no manifests. */
export async function planOf(
  transaction: Prisma.TransactionClient,
  decided: DecidedApplication,
  before?: Before,
): Promise<Plan> {
  const { parts, target, rejected, refusals, digest, newValues, trust } = decided;
  const isRefused = refusals.length > 0;
  const renderer = isRefused || target === null ? undefined : await readRenderer(transaction, target);
  const removed = before ? retiredParts(before, decided) : [];
  const planned: Plan['parts'] = [];
  for (const part of parts)
    planned.push({
      ...(await planOfPart({ transaction, renderer }, part, networksOf(part, parts))),
      overridden: overriddenMembers(decided.wanted.overrides, part.compiled.name),
    });
  return {
    ok: !isRefused,
    digest,
    refusals: refusals.map(({ part, code, path, message }) => ({ part, code, path, message })),
    placement: { target: target && columnsOfTarget(target), rejected: rejected.map((each) => ({ ...each })) },
    generated: [...newValues],
    ...(await planCopy(transaction, decided, before)),
    trust,
    parts: [
      ...planned,
      ...removed.map((row) => ({
        name: row.part ?? '',
        deployment_name: row.name,
        action: 'remove' as const,
        image: imageReference(row.image_source),
        overridden: [],
        bindings: [],
        manifest: [],
      })),
      ...Object.entries(decided.wanted.uses).map(([name, { deployment }]) => ({
        name,
        deployment_name: deployment,
        action: 'use' as const,
        image: '',
        overridden: [],
        bindings: [],
        manifest: [],
      })),
    ],
  };
}

/** What a plan says about the application of the catalog that would run. */
async function planCopy(
  transaction: Prisma.TransactionClient,
  { wanted: { origin } }: DecidedApplication,
  before: Before | undefined,
): Promise<Pick<Plan, 'advice' | 'changelog'>> {
  if (!origin) return { advice: before ? presentCopy(before.row).advice : null, changelog: null };
  const { id, revision: to, advice } = origin;
  const stated = { ...advice, certain: to !== null };
  if (!before || to === null) return { advice: stated, changelog: null };
  const { catalog_id, catalog_revision } = before.row;
  const from = catalog_id === id ? catalog_revision : null;
  const row = await transaction.catalogApplicationChangelog.findUnique({ where: { application_id: id } });
  return { advice: stated, changelog: row && changesBetween(row.entries, { from, to }) };
}

/** The networks of a part. Later parts add their names to the network of the application. */
function networksOf({ decided }: DecidedPart, all: readonly DecidedPart[]): HostNetwork[] {
  const [own, ...joined] = decided.decision?.networks?.networks ?? [];
  if (!own) return [];
  const names = all.flatMap((part) => part.decided.decision?.networks?.networks[0]?.names ?? []);
  const byName = new Map([...own.names, ...names].map((each) => [each.name, each]));
  return [
    { ...own, names: [...byName.values()].toSorted((one, other) => compareStrings(one.name, other.name)) },
    ...joined,
  ];
}

interface PlanContext {
  readonly transaction: Prisma.TransactionClient;
  /** Undefined for a refused application. */
  readonly renderer: Renderer | undefined;
}

async function planOfPart(
  { transaction, renderer }: PlanContext,
  part: DecidedPart,
  networks: readonly HostNetwork[],
): Promise<Omit<Plan['parts'][number], 'overridden'>> {
  const { compiled, decided } = part;
  const draft = decided.decision?.draft ?? (decided.kind === 'change' ? decided.draft : undefined);
  const action = decided.kind === 'creation' ? 'create' : decided.decision === undefined ? 'keep' : 'change';
  return {
    name: compiled.name,
    deployment_name: compiled.deployment,
    action,
    image: draft ? imageReference(draft.workload.spec) : '',
    bindings: draft ? listBindings(draft.env, networks) : [],
    manifest: renderer ? await manifestOfPart({ transaction, renderer }, part, networks) : [],
  };
}

/** The manifest of a part that is created or changed. */
async function manifestOfPart(
  { transaction, renderer }: PlanContext & { readonly renderer: Renderer },
  { compiled, decided }: DecidedPart,
  networks: readonly HostNetwork[],
): Promise<ManifestObject[]> {
  const { decision } = decided;
  if (!decision) return [];
  const { draft, env, bound, composed, mounted, secrets, ports, chosen } = decision;
  const at =
    decided.kind === 'creation'
      ? { generation: 1, restarted_at: null }
      : { generation: decided.before.generation + 1, restarted_at: decided.before.restarted_at };
  const target = chosen ?? draft.target;
  const admission = await readAdmission(transaction, { ...draft, target }, compiled.published);
  const renderable = { draft, env, bound, composed, mounted, admission, ...at };
  const rendering = renderingOf(renderable, secretsWithPlaceholders(secrets));
  const allocated = { gpus: chosen?.gpus ?? [], ports: ports?.replicas ?? [], networks };
  return renderedManifest(renderer, { rendering, allocated });
}
