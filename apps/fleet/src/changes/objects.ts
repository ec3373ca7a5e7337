import type { Reply } from '@svc/contract';
import { changeKinds, fleetEndpoints } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import { readListed } from '../database/lists.ts';
import { deployments, presentDeployment } from '../deployments/rows.ts';
import { eventList, presentEvent } from '../events/list.ts';
import { tokenRow } from '../identity/mcp-tokens.ts';
import { tokenList } from '../identity/token-list.ts';
import { listedUser, userList } from '../identity/user-list.ts';
import { presentUser } from '../identity/users.ts';
import type { DefaultLimits } from '../render/defaults.ts';
import { clusters, presentCluster } from '../resources/clusters.ts';
import { hostsAndNodes, presentHost } from '../resources/hosts.ts';
import { type Kind, type ResourceRow, readRows } from '../resources/kind.ts';
import { presentSecret, secrets } from '../resources/secrets.ts';
import { presentVolume, volumes } from '../resources/storage.ts';
import { presentWorkload, workloads } from '../resources/workloads.ts';
import type { Settings } from '../settings/settings.ts';
import type { ChangeRow } from './history.ts';

/** What a client receives for a change, before the reply schema converts it. */
type Change = Reply<typeof fleetEndpoints.watchChanges>;
export type ChangeKind = Change['kind'];

/** What the representations of objects need. */
export interface ObjectSources {
  readonly database: Database;
  readonly settings: Settings;
  readonly defaultLimits: DefaultLimits;
}

/** A change with its position and its text, which all streams share. */
export interface PresentedChange {
  readonly position: string;
  readonly change: Change;
  /** The event as it is sent. */
  readonly text: string;
}

const { reply } = fleetEndpoints.watchChanges;

const isKind = (kind: string): kind is ChangeKind => changeKinds.some((known) => known === kind);

/**
 * The events for changes. Each object is read once, in its current state: it can be newer than the
 * change.
 */
export async function presentChanges(sources: ObjectSources, rows: readonly ChangeRow[]): Promise<PresentedChange[]> {
  const found = new Map<string, Described>();
  for (const kind of changeKinds) {
    const ids = new Set(rows.filter((row) => row.kind === kind).map(({ object_id }) => object_id));
    if (ids.size === 0) continue;
    for (const change of await readers[kind](sources, [...ids])) {
      found.set(change.id, { change, data: JSON.stringify(reply.parse(change)) });
    }
  }
  return rows.flatMap(({ position, kind, object_id }) => {
    const described = isKind(kind) ? found.get(object_id) : undefined;
    if (!described) return []; // the first row of the history, or a kind of a later version
    const { change, data } = described;
    return [{ position, change, text: `event: change\nid: ${position}\ndata: ${data}\n\n` }];
  });
}

interface Described {
  readonly change: Change;
  readonly data: string;
}

/** One change for each id. An id without an object is that of a deleted one. */
function changesOf<K extends ChangeKind, T extends { readonly id: string }>(
  kind: K,
  ids: readonly string[],
  objects: readonly T[],
) {
  const byId = new Map(objects.map((object) => [object.id, object]));
  return ids.map((id) => {
    const object = byId.get(id) ?? null;
    return { operation: object === null ? ('deleted' as const) : ('put' as const), kind, id, object };
  });
}

const rowsOf = <Row extends ResourceRow>({ database }: ObjectSources, kind: Kind<Row>, ids: readonly string[]) =>
  readRows(database.client, kind, ids);

/** The current objects of each list. */
const readers: Readonly<Record<ChangeKind, (sources: ObjectSources, ids: readonly string[]) => Promise<Change[]>>> = {
  deployments: async (sources, ids) => {
    const rows = await rowsOf(sources, deployments, ids);
    const objects = rows.map((row) => presentDeployment(row, sources.defaultLimits));
    return changesOf('deployments', ids, objects);
  },
  hosts: async (sources, ids) => changesOf('hosts', ids, (await rowsOf(sources, hostsAndNodes, ids)).map(presentHost)),
  clusters: async (sources, ids) =>
    changesOf('clusters', ids, (await rowsOf(sources, clusters, ids)).map(presentCluster)),
  workloads: async (sources, ids) =>
    changesOf('workloads', ids, (await rowsOf(sources, workloads, ids)).map(presentWorkload)),
  storage: async (sources, ids) => changesOf('storage', ids, (await rowsOf(sources, volumes, ids)).map(presentVolume)),
  secrets: async (sources, ids) => changesOf('secrets', ids, (await rowsOf(sources, secrets, ids)).map(presentSecret)),
  users: async ({ database, settings }, ids) => {
    const mapping = await settings.oidc();
    const rows = await readListed(database.client, userList(mapping), ids);
    const objects = rows.map((row) => presentUser(listedUser.parse(row), mapping));
    return changesOf('users', ids, objects);
  },
  tokens: async ({ database }, ids) => {
    const rows = await readListed(database.client, tokenList, ids);
    const objects = rows.map((row) => tokenRow.parse(row));
    return changesOf('tokens', ids, objects);
  },
  events: async ({ database }, ids) => {
    const rows = await readListed(database.client, eventList, ids);
    return changesOf('events', ids, rows.map(presentEvent));
  },
};
