import { documentedAs } from '../../shared/openapi-schema.ts';
import { pastInput } from '../../shared/timestamp.ts';
import { flag, line, queryInteger } from '../../shared/wire.ts';

/** The maximum number of instances whose logs one request follows. */
export const MAX_FOLLOWED_INSTANCES = 20;

/** What a request for the log of a deployment can select. */
export const logQuery = {
  instance: line(253).optional().meta({
    description:
      'Name of the instance. Default: the first one that runs; with `previous`, the first one that was started again',
  }),
  container: line(63).optional().meta({
    description: 'On a cluster, the name of a container of the instance. Default: `main`',
  }),
  all: flag.default(false).meta(
    documentedAs({
      type: 'boolean',
      default: false,
      description: `The logs of all instances. Each line begins with the name of its instance and \` | \``,
    }),
  ),
  tail: queryInteger(0, 10_000)
    .default(1000)
    .meta(documentedAs({ type: 'integer', minimum: 0, maximum: 10_000, default: 1000 })),
  follow: flag.default(false).meta(
    documentedAs({
      type: 'boolean',
      default: false,
      description: `Continue with new lines, also after the instance is started again. With \`all\`, at most ${MAX_FOLLOWED_INSTANCES} instances can be followed`,
    }),
  ),
  since: pastInput.optional().meta({
    description:
      'Only lines from this time on, in whole seconds: a duration before now (10m, 1h30m), or an ISO 8601 timestamp with a time zone',
  }),
  timestamps: flag
    .default(false)
    .meta(documentedAs({ type: 'boolean', default: false, description: 'Begin each line with its time' })),
  previous: flag.default(false).meta(
    documentedAs({
      type: 'boolean',
      default: false,
      description: 'The log of the container before it was last started again, such as after a crash',
    }),
  ),
  download: flag
    .default(false)
    .meta(documentedAs({ type: 'boolean', default: false, description: 'Browsers store the log as a file' })),
};
