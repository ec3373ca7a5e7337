import { eitherOf, type Fleet, type Hub, reply, sendTo } from '../api.ts';
import type { Action, Common } from '../invocation.ts';
import { print } from '../output.ts';

/** The phases of deployments that do not run as desired. */
const PROBLEMS = 'degraded,failed,retrying';

/** The number of deployments with problems that are named. */
const NAMED = 20;

/** The response of `/readyz`, which is not part of the OpenAPI document. */
interface Readiness {
  readonly ready: boolean;
  readonly version: string;
  readonly checks: readonly { readonly name: string; readonly state: string; readonly detail?: string }[];
}

export const status: Action = async (_, options) => {
  const { service, client, url } = await eitherOf(options);
  const readiness = await readReadiness(url);
  if (service === 'fleet') await fleetStatus(client, url, readiness, options);
  else await hubStatus(client, url, readiness, options);
  return undefined;
};

/** Also a service that is not ready states its checks. */
async function readReadiness(url: string): Promise<Readiness> {
  const response = await sendTo(url, new Request(`${url}/readyz`));
  const { version = 'unknown', checks = [] } = Object(await response.json().catch(() => undefined));
  return { ready: response.ok, version: String(version), checks };
}

/** What both services state, as facts for people. */
const commonFacts = (url: string, { ready, version, checks }: Readiness) => ({
  service: url,
  version,
  ready: ready ? 'yes' : 'no',
  ...Object.fromEntries(
    checks.filter(({ state }) => state !== 'ok').map(({ name, state, detail = '' }) => [name, `${state} ${detail}`]),
  ),
});

async function fleetStatus(fleet: Fleet, url: string, readiness: Readiness, { output }: Common): Promise<void> {
  const one = { limit: 1, view: 'summary' as const };
  const troubled = { ...one, limit: NAMED, phase: PROBLEMS };
  const [sync, all, problems, hosts, unreachable] = await Promise.all([
    reply(fleet.GET('/api/v1/catalog/sync')),
    reply(fleet.GET('/api/v1/deployments', { params: { query: one } })),
    reply(fleet.GET('/api/v1/deployments', { params: { query: troubled } })),
    reply(fleet.GET('/api/v1/hosts', { params: { query: { limit: 1 } } })),
    reply(fleet.GET('/api/v1/hosts', { params: { query: { limit: NAMED, reachability: 'unreachable' } } })),
  ]);
  const value = {
    url,
    ...readiness,
    catalog: { status: sync.status, templates: sync.counts.templates, last_success_at: sync.last_success_at },
    deployments: {
      total: all.pagination.total,
      problems: problems.deployments.map(({ name, phase, reason, message }) => ({ name, phase, reason, message })),
      problem_total: problems.pagination.total,
    },
    hosts: {
      total: hosts.pagination.total,
      unreachable: unreachable.hosts.map(({ name, message }) => ({ name, message })),
      unreachable_total: unreachable.pagination.total,
    },
  };
  await print(value, {
    format: output,
    as: () => ({
      ...commonFacts(url, readiness),
      catalog: `${value.catalog.status}, ${value.catalog.templates} templates`,
      deployments: `${value.deployments.total}, ${value.deployments.problem_total} with problems`,
      hosts: `${value.hosts.total}, ${value.hosts.unreachable_total} unreachable`,
      ...Object.fromEntries(
        value.deployments.problems.map(({ name, phase, reason, message }) => [
          `! ${name}`,
          `${phase} ${reason ?? ''} ${message}`,
        ]),
      ),
      ...Object.fromEntries(value.hosts.unreachable.map(({ name, message }) => [`! host ${name}`, message])),
    }),
  });
}

async function hubStatus(hub: Hub, url: string, readiness: Readiness, { output }: Common): Promise<void> {
  const [{ user, may }, { pagination }] = await Promise.all([
    reply(hub.GET('/api/v1/auth/session')),
    reply(hub.GET('/api/v1/catalog/templates', { params: { query: { limit: 1, view: 'summary' } } })),
  ]);
  const totals = may.includes('admin') ? await reply(hub.GET('/api/v1/admin/stats')) : {};
  const value = {
    url,
    ...readiness,
    user: user?.email ?? user?.name ?? null,
    visible_templates: pagination.total,
    totals,
  };
  await print(value, {
    format: output,
    as: () => ({
      ...commonFacts(url, readiness),
      user: value.user,
      'visible templates': value.visible_templates,
      ...totals,
    }),
  });
}
