import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { anyId, anyName, anyValue, whether } from '../shared/list-query.ts';
import { timestamp, timestampInput } from '../shared/timestamp.ts';
import { id, pagination, paging } from '../shared/wire.ts';
import { byId } from './resources/resource.ts';

const eventKinds = ['hosts', 'clusters', 'deployments', 'catalog', 'plans', 'sources'] as const;

export const event = z
  .object({
    id,
    at: timestamp,
    kind: z.enum(eventKinds).meta({ description: 'The list of the object; `catalog` is the mirror of the catalog' }),
    object_id: id.nullable().meta({
      description:
        'The id of the object; of `TemplateAdvisory` and `WebhookDisabled`, that of the advisory or webhook; null for the catalog',
    }),
    name: z.string().meta({ description: 'The name of the object at the time of the event' }),
    severity: z.enum(['warning', 'normal']).meta({
      description:
        '`warning`: the state became worse; `normal`: the object recovered, or something happened that is no problem',
    }),
    reason: z.string().meta({
      description:
        'Such as `Unreachable`, `CrashLoop`, `MirrorStale`, `TemplateAdvisory`, `WebhookDisabled` or `SourceFailed`; `Recovered`, `RolledBack` or `UpdateAvailable`',
    }),
    message: z.string(),
    resolved_at: timestamp.nullable().meta({
      description: 'Of a warning: when the object recovered or was deleted; null while it lasts',
    }),
  })
  .meta({ id: 'Event' });

const ownFilters = {
  severity: anyValue('severity', event.shape.severity),
  reason: anyName('`reason`, such as Unreachable'),
  since: timestampInput.optional().meta({ description: 'Events at or after this time' }),
  resolved: whether('Whether the warning has ended; events of severity `normal` do not match'),
  sort: z.enum(['at', '-at']).default('-at').meta({ description: 'By time, ascending or with `-` descending' }),
};

const reply = z.object({ events: z.array(event), pagination });

const ofTarget = {
  method: 'get',
  access: 'resources-read',
  tag: 'events',
  params: byId,
  query: z.strictObject({ ...paging, ...ownFilters }),
  reply,
  problems: ['not_found'],
} as const;

/** The events of the whole fleet, and of one host or cluster. */
export const fleetEventEndpoints = {
  listEvents: endpoint({
    operationId: 'listEvents',
    method: 'get',
    path: '/api/v1/events',
    access: 'resources-read',
    tag: 'events',
    summary:
      'List the changes of states for the worse and their ends: of hosts, clusters, deployments, plans and the catalog',
    query: z.strictObject({
      ...paging,
      kind: anyValue('kind', event.shape.kind),
      id: anyId('The object'),
      ...ownFilters,
    }),
    reply,
  }),
  listHostEvents: endpoint({
    ...ofTarget,
    operationId: 'listHostEvents',
    path: '/api/v1/hosts/:id/events',
    summary: 'List the events of a host',
  }),
  listClusterEvents: endpoint({
    ...ofTarget,
    operationId: 'listClusterEvents',
    path: '/api/v1/clusters/:id/events',
    summary: 'List the events of a cluster',
  }),
};
