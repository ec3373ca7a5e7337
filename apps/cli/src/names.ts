import { type Fleet, type Hub, reply } from './api.ts';
import { Failure } from './errors.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);

/** An object that has a name beside its id. */
export interface Named {
  readonly id: string;
}

/**
 * Finds an object by its name. A command accepts an id or a name for each kind of objects.
 * @param found the objects with exactly this name
 * @throws Failure unless there is exactly one
 */
export function onlyOne<T extends Named>(kind: string, name: string, found: readonly T[]): T {
  const [object, ...others] = found;
  if (!object) throw new Failure(`There is no ${kind} ${name}.`);
  if (others.length > 0) {
    throw new Failure(`More than one ${kind} is named ${name}. Use an id: ${found.map(({ id }) => id).join(', ')}.`);
  }
  return object;
}

/** The deployment with a name or an id. */
export async function deploymentOf(fleet: Fleet, text: string) {
  if (isId(text)) {
    return (await reply(fleet.GET('/api/v1/deployments/{id}', { params: { path: { id: text } } }))).deployment;
  }
  const { deployments } = await reply(
    fleet.GET('/api/v1/deployments', { params: { query: { name: text, limit: 2, view: 'summary' } } }),
  );
  return onlyOne('deployment', text, deployments);
}

/** The application with a name. */
export async function applicationOf(fleet: Fleet, name: string) {
  const { applications } = await reply(fleet.GET('/api/v1/applications', { params: { query: { name, limit: 2 } } }));
  return onlyOne('application', name, applications);
}

const idFrom = async (text: string, find: () => Promise<Named>): Promise<string> =>
  isId(text) ? text : (await find()).id;

export const deploymentId = (fleet: Fleet, text: string): Promise<string> =>
  idFrom(text, () => deploymentOf(fleet, text));

export const hostId = (fleet: Fleet, text: string): Promise<string> =>
  idFrom(text, async () => {
    const { hosts } = await reply(fleet.GET('/api/v1/hosts', { params: { query: { name: text, limit: 2 } } }));
    return onlyOne('host', text, hosts);
  });

export const clusterId = (fleet: Fleet, text: string): Promise<string> =>
  idFrom(text, async () => {
    const { clusters } = await reply(fleet.GET('/api/v1/clusters', { params: { query: { name: text, limit: 2 } } }));
    return onlyOne('cluster', text, clusters);
  });

/** A token that is not revoked. Names of tokens can be equal. */
export const tokenId = (fleet: Fleet, text: string): Promise<string> =>
  idFrom(text, async () => {
    const query = { name: text, status: 'active,expired', limit: 2 };
    const { tokens } = await reply(fleet.GET('/api/v1/tokens', { params: { query } }));
    return onlyOne('token', text, tokens);
  });

export const organizationId = (hub: Hub, text: string): Promise<string> =>
  idFrom(text, async () => {
    const query = { search: text };
    const { organizations } = await reply(hub.GET('/api/v1/admin/organizations', { params: { query } }));
    return onlyOne(
      'organization',
      text,
      organizations.filter(({ slug }) => slug === text),
    );
  });

/** A kind of objects of a hub that have revisions. */
export type RevisedKind = 'template' | 'application';

/** The id of a template or an application, or of the one that was deleted with the slug. */
export const revisedId = (hub: Hub, kind: RevisedKind, text: string): Promise<string> =>
  idFrom(text, async () => {
    const bySlug = { params: { path: { slug: text } } };
    const { data } = await (kind === 'template'
      ? hub.GET('/api/v1/catalog/templates/{slug}', bySlug)
      : hub.GET('/api/v1/catalog/applications/{slug}', bySlug));
    if (data) return data;
    const first = { params: { query: { limit: 100 } } };
    const deleted =
      kind === 'template'
        ? (await reply(hub.GET('/api/v1/admin/deleted-templates', first))).templates
        : (await reply(hub.GET('/api/v1/admin/deleted-applications', first))).applications;
    return onlyOne(
      kind,
      text,
      deleted.filter(({ slug }) => slug === text),
    );
  });

export const categoryId = (hub: Hub, text: string): Promise<string> =>
  idFrom(text, async () => {
    const { categories } = await reply(hub.GET('/api/v1/admin/categories', { params: { query: { search: text } } }));
    return onlyOne(
      'category',
      text,
      categories.filter(({ slug }) => slug === text),
    );
  });
