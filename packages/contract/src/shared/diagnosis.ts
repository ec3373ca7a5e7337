import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timestamp } from './timestamp.ts';

const check = z.object({
  name: z.string(),
  state: z.enum(['ok', 'warning', 'failed', 'skipped']),
  found: z.string(),
  remedy: z.string().optional().meta({ description: 'What to do about it' }),
});

/** The result of the command `doctor`, and of the operation. */
const doctorReport = z
  .object({
    service: z.string(),
    version: z.string(),
    healthy: z.boolean().meta({ description: 'No check failed' }),
    checks: z.array(check),
  })
  .meta({ id: 'DoctorReport' });
export type DoctorReport = z.output<typeof doctorReport>;

const count = z.int();

/** What the bundles of both services contain. The description of each member is part of the bundle. */
const common = {
  doctor: doctorReport.meta({
    description: 'The result of all checks. Words with an @ are replaced, because they can be addresses of people',
  }),
  process: z
    .object({
      node: z.string(),
      platform: z.string(),
      arch: z.string(),
      uptime_seconds: count,
      cpu_seconds: z.number(),
      rss_bytes: count,
      heap_used_bytes: count,
      heap_limit_bytes: count,
    })
    .meta({ description: 'The process that answered: version of Node, time since its start, CPU time and memory' }),
  settings: z
    .array(z.string())
    .meta({ description: 'The names of the settings that the environment sets, without their values' }),
  database: z
    .object({
      version: z.string(),
      bytes: z.number(),
      tables: z.array(
        z.object({ name: z.string(), rows: z.number().meta({ description: 'Estimated' }), bytes: z.number() }),
      ),
      pools: z.array(z.object({ name: z.string(), max: count, open: count, idle: count, waiting: count })),
    })
    .nullable()
    .meta({
      description: 'Version and size of PostgreSQL, its tables, and the connections of the process; null: not readable',
    }),
  objects: z
    .array(z.object({ kind: z.string(), state: z.string(), count }))
    .nullable()
    .meta({ description: 'The numbers of objects by kind and state; null: not readable' }),
};

/** What the bundle of the fleet contains in addition. */
const ofFleet = {
  events: z
    .array(z.object({ kind: z.string(), severity: z.string(), reason: z.string(), count, last_at: timestamp }))
    .nullable()
    .meta({
      description: 'The events of the last seven days by their reason, without their texts; null: not readable',
    }),
  sync: z
    .object({
      status: z.string(),
      last_success_at: timestamp.nullable(),
      stale_since: timestamp.nullable(),
      skipped: count,
    })
    .nullable()
    .meta({ description: 'The state of the mirror of the catalog; null: not readable' }),
};

/**
 * A support bundle. It has no addresses of people, no texts of variables, no lines of logs and no
 * labels.
 */
const bundleOf = <F extends z.ZodRawShape>(fields: F) =>
  z
    .object({
      service: z.string(),
      version: z.string(),
      created_at: timestamp,
      content: z
        .array(z.object({ member: z.string(), description: z.string() }))
        .meta({ description: 'What the other members contain' }),
      ...common,
      ...fields,
    })
    .meta({ id: 'SupportBundle' });

export const hubBundle = bundleOf({});
export const fleetBundle = bundleOf(ofFleet);

/** What both bundles have in common. */
export type CommonBundle = z.input<typeof hubBundle>;

/** The member `content` of a bundle. */
export const contentOf = ({ shape }: z.ZodObject): { member: string; description: string }[] =>
  Object.entries(shape).flatMap(([member, schema]) => {
    // The values of a shape are schemas.
    const { description } = (schema as z.ZodType).meta() ?? {};
    return description === undefined || member === 'content' ? [] : [{ member, description }];
  });

/** The operations for administrators that diagnose a running service. One runs at a time in each replica. */
export const diagnosisEndpoints = <A extends string, P extends string, B extends z.ZodType>(
  access: A,
  base: P,
  bundle: B,
) => {
  const operation = { method: 'post', access, tag: 'diagnosis', problems: ['overloaded'] } as const;
  return {
    runDoctor: endpoint({
      ...operation,
      operationId: 'runDoctor',
      path: `${base}/doctor`,
      summary:
        'Check the configuration of the replica that answers, and everything that it depends on, as the command doctor does. It takes at most 30 seconds',
      reply: z.object({ report: doctorReport }),
    }),
    createSupportBundle: endpoint({
      ...operation,
      operationId: 'createSupportBundle',
      path: `${base}/support-bundle`,
      summary:
        'Get what a person who helps needs to know about the service, without secrets, addresses of people, texts of variables, log lines and labels. It takes at most 30 seconds',
      reply: z.object({ bundle }),
    }),
  };
};
