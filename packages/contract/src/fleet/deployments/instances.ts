import { z } from 'zod';
import { timestamp } from '../../shared/timestamp.ts';

/** The maximum number of events of an instance. */
export const MAX_INSTANCE_EVENTS = 5;

/** A container of a pod. */
export const instanceContainer = z.object({
  name: z.string(),
  image: z.string().meta({ description: 'What the pod runs, after admission' }),
  phase: z.enum(['waiting', 'running', 'terminated']),
  message: z.string(),
  restarts: z.int(),
});

/** What only the instances of a cluster have. */
const onCluster = {
  node: z.string().nullable().meta({ description: 'The node of the cluster; null on a host, or while it has none' }),
  containers: z.array(instanceContainer).meta({
    description:
      'The containers of the pod: `main` first, then those that the cluster has added, such as sidecars. Empty on a host',
  }),
  events: z
    .array(
      z.object({
        at: timestamp.nullable(),
        type: z.string().meta({ description: '`Normal` or `Warning`' }),
        reason: z.string(),
        message: z.string(),
      }),
    )
    .meta({
      description: `The last ${MAX_INSTANCE_EVENTS} events of a pod that does not run, newest first. Empty on a host`,
    }),
};

/** An instance of a deployment: a container of a host, or a pod of a cluster. */
export const instance = z.object({
  name: z.string(),
  phase: z.string(),
  message: z.string(),
  restarts: z.int().meta({
    description:
      'Number of its starts after the first one, by the engine and by the fleet. An instance of another configuration begins at 0',
  }),
  ordinal: z.int().nullable().meta({ description: 'Its number on a host, from 0; null on a cluster' }),
  current: z
    .boolean()
    .meta({ description: 'Whether it has the configuration and the image of the present generation' }),
  ready: z.boolean().meta({ description: 'Whether it serves: it runs, and its health check passes if it has one' }),
  image_digest: z.string().nullable().meta({ description: 'The digest of its image; null if it is not known' }),
  ...onCluster,
});
