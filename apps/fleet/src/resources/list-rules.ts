// The filters and sort fields of the lists of resources, on a row `r`.
import { fold, type Input } from '@svc/contract';
import { type fleetEndpoints, type LabelRequirement, problemPhases, type Severity } from '@svc/contract/fleet';
import { by, byNullable, isOneId, isOneOf, isText, type ListRules, type Sort } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { hasAdvisory } from './advice.ts';
import { ofCatalogApplication } from './application-copies.ts';
import { hasUpgrade } from './application-updates.ts';
import { hasUpdate, outdatedCopies } from './updates.ts';
import { templateHash } from './workloads.ts';

type ListEndpoint =
  | 'listHosts'
  | 'listClusters'
  | 'listWorkloads'
  | 'listDeployments'
  | 'listApplications'
  | 'listStorage'
  | 'listSecrets';

/** The rules of the list of an endpoint. */
type RulesOf<Name extends ListEndpoint> = ListRules<Input<(typeof fleetEndpoints)[Name]>['query']>;

const hasLabel = ({ key, value }: LabelRequirement) =>
  value === undefined
    ? Prisma.sql`r.labels ? ${key}`
    : Prisma.sql`r.labels @> jsonb_build_object(${key}::text, ${value}::text)`;

const filters = {
  search: (text: string) => Prisma.sql`position(${fold(text)} in r.name) > 0`,
  label: (requirements: readonly LabelRequirement[]) => Prisma.join(requirements.map(hasLabel), ' AND '),
  name: isOneOf(Prisma.sql`r.name`),
  created_by: isText(Prisma.sql`r.created_by`),
};

const sorts = {
  created_at: by(Prisma.sql`r.created_at`),
  updated_at: by(Prisma.sql`r.updated_at`),
  // The order does not depend on the locale of the database.
  name: by(Prisma.sql`r.name COLLATE "C"`),
};

const lastSeen = byNullable(Prisma.sql`r.last_seen_at`);

const targetProblem: Sort = (direction) =>
  Prisma.sql`(r.reachability = 'unreachable') ${direction}, r.name COLLATE "C"`;

/** Of the deployments with problems and of the others, those that changed last are first. */
const deploymentProblem: Sort = (direction) =>
  Prisma.sql`(r.phase IN (${PROBLEM_PHASES})) ${direction}, r.updated_at DESC`;

/** Literals, so that an index on the expression is used. */
const PROBLEM_PHASES = Prisma.raw(problemPhases.map((phase) => `'${phase}'`).join(', '));

const isOn = {
  host_id: isOneId(Prisma.sql`r.host_id`),
  cluster_id: isOneId(Prisma.sql`r.cluster_id`),
};

const reachability = isOneOf(Prisma.sql`r.reachability::text`);
const networkType = (types: readonly string[]) => Prisma.sql`r.network_types && ${types}::text[]`;

/**
 * Whether a revision is among those with one of these template states. The hash of each template is computed once, not
 * for each of its copies.
 */
const amongStates = (revision: Prisma.Sql, states: readonly string[]) => Prisma.sql`(${revision}) IN (
  WITH present AS MATERIALIZED (
    SELECT t.id, ${templateHash(Prisma.sql`t.summary`)} AS hash FROM catalog_templates t
    WHERE t.id IN (SELECT v.template_id FROM workload_revisions v))
  SELECT v.workload_id, v.revision FROM workload_revisions v LEFT JOIN present t ON t.id = v.template_id
  WHERE v.template_id IS NOT NULL AND
    CASE WHEN t.id IS NULL THEN 'withdrawn' WHEN t.hash = v.template_hash THEN 'current' ELSE 'outdated' END
      = ANY(${states}::text[]))`;

/** Whether a revision `v` is of a template with one of these statuses. Few templates are not active. */
const hasStatus = (statuses: readonly string[]) => {
  const others = (condition: Prisma.Sql) =>
    Prisma.sql`ARRAY(SELECT a.template_id FROM catalog_advice a WHERE ${condition})`;
  const isOneOfThem = Prisma.sql`a.status = ANY(${statuses}::text[])`;
  return statuses.includes('active')
    ? Prisma.sql`(v.template_id IS NOT NULL AND v.template_id <> ALL(${others(Prisma.sql`NOT ${isOneOfThem}`)}))`
    : Prisma.sql`v.template_id = ANY(${others(isOneOfThem)})`;
};

/** The filters by template of rows whose columns `revision` identify a revision of a workload. */
const ofTemplate = (revision: Prisma.Sql) => {
  const among = (condition: Prisma.Sql) =>
    Prisma.sql`(${revision}) IN (SELECT v.workload_id, v.revision FROM workload_revisions v WHERE ${condition})`;
  return {
    template: (slugs: readonly string[]) => among(isOneOf(Prisma.sql`v.template_slug`)(slugs)),
    template_id: (ids: readonly string[]) => among(isOneId(Prisma.sql`v.template_id`)(ids)),
    template_state: (states: readonly string[]) =>
      states.every((state) => state === 'outdated')
        ? Prisma.sql`(${revision}) IN (${outdatedCopies})`
        : amongStates(revision, states),
    template_status: (statuses: readonly string[]) => among(hasStatus(statuses)),
    advisory: (severity: Severity) => among(hasAdvisory(severity)),
  };
};

export const hostList: RulesOf<'listHosts'> = {
  filters: {
    ...filters,
    reachability,
    engine: isOneOf(Prisma.sql`r.engine::text`),
    schedulable: (schedulable) => Prisma.sql`r.schedulable = ${schedulable}`,
    cluster_id: isOn.cluster_id,
    network_type: networkType,
    arch: isOneOf(Prisma.sql`r.arch`),
  },
  sorts: { ...sorts, last_seen_at: lastSeen, problem: targetProblem },
};

export const clusterList: RulesOf<'listClusters'> = {
  filters: { ...filters, reachability, network_type: networkType },
  sorts: { ...sorts, last_seen_at: lastSeen, problem: targetProblem },
};

export const workloadList: RulesOf<'listWorkloads'> = {
  filters: { ...filters, ...ofTemplate(Prisma.sql`r.id, r.revision`) },
  sorts,
};

export const deploymentList: RulesOf<'listDeployments'> = {
  filters: {
    ...filters,
    ...isOn,
    ...ofTemplate(Prisma.sql`r.workload_id, r.revision`),
    update: hasUpdate,
    phase: isOneOf(Prisma.sql`r.phase`),
    desired_state: isOneOf(Prisma.sql`r.desired_state::text`),
    workload_id: isOneId(Prisma.sql`r.workload_id`),
    reachability: isOneOf(Prisma.sql`coalesce((SELECT h.reachability::text FROM hosts h WHERE h.id = r.host_id),
      (SELECT c.reachability::text FROM clusters c WHERE c.id = r.cluster_id))`),
  },
  sorts: { ...sorts, problem: deploymentProblem },
};

export const applicationList: RulesOf<'listApplications'> = {
  filters: { ...filters, ...ofCatalogApplication, update: hasUpgrade },
  sorts,
};

export const volumeList: RulesOf<'listStorage'> = {
  filters: {
    ...filters,
    ...isOn,
    phase: isOneOf(Prisma.sql`r.phase::text`),
    access_mode: isOneOf(Prisma.sql`r.access_mode::text`),
    reclaim: isOneOf(Prisma.sql`r.reclaim::text`),
    deployment_id: isOneId(Prisma.sql`r.deployment_id`),
    attached: (attached) => Prisma.sql`EXISTS (SELECT FROM attachments a WHERE a.volume_id = r.id) = ${attached}`,
  },
  sorts,
};

export const secretList: RulesOf<'listSecrets'> = {
  filters: { ...filters, kind: isOneOf(Prisma.sql`r.kind::text`) },
  sorts: { ...sorts, last_rotated_at: by(Prisma.sql`r.last_rotated_at`) },
};
