import { z } from 'zod';
import { anyValue } from '../../shared/list-query.ts';
import { documentedAs } from '../../shared/openapi-schema.ts';
import { queryInteger } from '../../shared/wire.ts';
import { phases } from './deployment.ts';

/** The query of a read that can wait until its object has a phase. `compared` states how a client compares generations. */
export const waiting = (compared: string) => ({
  wait: anyValue('phase', z.enum([...phases, 'deleted'])).meta({
    description: `Phases, separated by commas, or \`deleted\`: the response is 404 when it does not exist any more. The response is sent when the current generation has one of them, when it can no longer reach another phase by itself, or at the timeout. ${compared}`,
  }),
  timeout: queryInteger(1, 60)
    .default(30)
    .meta(
      documentedAs({ type: 'integer', minimum: 1, maximum: 60, default: 30, description: 'Of `wait`, in seconds' }),
    ),
});
