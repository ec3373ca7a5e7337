import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { anyValue } from '../shared/list-query.ts';
import { documentedAs } from '../shared/openapi-schema.ts';
import { flag, id, line, uuid } from '../shared/wire.ts';
import { deployment, type phases } from './deployments/deployment.ts';
import { workload } from './deployments/workloads.ts';
import { event } from './events.ts';
import { token, user } from './people.ts';
import { cluster } from './resources/clusters.ts';
import { host } from './resources/hosts.ts';
import { secret } from './resources/secrets.ts';
import { volume } from './resources/storage.ts';

/** The lists whose changes can be watched. */
export const changeKinds = [
  'deployments',
  'hosts',
  'clusters',
  'workloads',
  'storage',
  'secrets',
  'users',
  'tokens',
  'events',
] as const;

const changeOf = <K extends (typeof changeKinds)[number], S extends z.ZodType>(kind: K, object: S) =>
  z.object({
    operation: z.enum(['put', 'deleted']).meta({ description: '`put`: the object was created or changed' }),
    kind: z.literal(kind),
    id,
    object: object.nullable().meta({ description: 'The current object as in its list; null if it was deleted' }),
  });

const change = z.discriminatedUnion('kind', [
  changeOf('deployments', deployment),
  changeOf('hosts', host),
  changeOf('clusters', cluster),
  changeOf('workloads', workload),
  changeOf('storage', volume),
  changeOf('secrets', secret),
  changeOf('users', user),
  changeOf('tokens', token),
  changeOf('events', event),
]);

/** What the event `counts` contains. Phases without deployments are 0. */
export interface ChangeCounts {
  readonly deployments: Readonly<Record<(typeof phases)[number], number>>;
}

/** The stream of changes. */
export const fleetChangeEndpoints = {
  watchChanges: endpoint({
    operationId: 'watchChanges',
    method: 'get',
    path: '/api/v1/changes',
    access: 'signed-in',
    tag: 'changes',
    summary: 'Watch the objects of lists, or one object, as server-sent events in the order of commits',
    query: z.strictObject({
      kinds: anyValue('kind', z.enum(changeKinds)).meta({
        description: `Lists, separated by commas. Default: ${changeKinds.join(',')}`,
      }),
      id: uuid.optional().meta({ description: 'Only changes of the object with this id' }),
      counts: flag.default(false).meta(
        documentedAs({
          type: 'boolean',
          default: false,
          description:
            'Also send an event `counts`, at first and when it has changed: `{"deployments": {"running": 12, …}}`, the number of deployments in each phase. It requires the kind `deployments`, and has no `id`',
        }),
      ),
      after: line(100).optional().meta({
        description:
          'The `id` of an event: continue after it. If it is no longer known, the stream begins with an event `reset`',
      }),
    }),
    headers: ['Last-Event-ID'],
    reply: change,
    stream: 'text/event-stream',
    problems: ['overloaded'],
  }),
};
