import { z } from 'zod';
import { partName } from '../../applications/index.ts';
import { record } from '../../shared/wire.ts';
import { variable } from '../../template/fields.ts';
import { divideImage } from '../../template/image-reference.ts';
import { refuseOldValues } from '../../template/new-values.ts';
import { boundValue, shownBoundValue } from '../deployments/env.ts';
import { newWorkloadMembers, workloadSpec } from '../deployments/workloads.ts';
import { hostPorts, hostPortsReply } from '../resources/host-ports.ts';

/** The maximum size of the overrides of an application, as JSON. */
export const MAX_OVERRIDES_BYTES = 256 * 1024;

/** The members to which other parts refer, and the variables, which are set by name. */
const FIXED = { kind: true, ports: true, volume_mounts: true, env_schema: true, env: true } as const;

const partOverrides = newWorkloadMembers
  .omit(FIXED)
  .extend({
    env: record(variable, boundValue).optional().meta({
      description: 'By name of the variable. A secret variable accepts text only as `value` with `plain`',
    }),
    host_ports: hostPorts.optional(),
  })
  .check(divideImage)
  .check(refuseOldValues)
  .meta({ id: 'PartOverrides' });

/** What a request sets for parts instead of what the specification says. */
export const overrides = record(partName, partOverrides, 32).meta({
  description: `By name of the part, what it runs instead of what the specification says: members of its workload, variables, and ports of the host. The values are used as they are, without placeholders. Together at most ${MAX_OVERRIDES_BYTES / 1024} KiB`,
  examples: [{ web: { image_tag: '6.1', memory_limit: '1Gi', env: { TZ: 'Europe/Berlin' } } }],
});

/** The same members, each absent if it is not set. */
const absentIfNotSet = <T extends Record<string, z.ZodPrefault<z.ZodType>>>(shape: T) =>
  // fromEntries loses which key has which value.
  Object.fromEntries<unknown>(Object.entries(shape).map(([name, member]) => [name, member.unwrap().optional()])) as {
    [M in keyof T]: z.ZodOptional<T[M] extends z.ZodPrefault<infer Inner> ? Inner : never>;
  };

/** What was set for the parts of an application, by their names. */
export const overridesReply = z
  .record(
    z.string(),
    z
      .object({
        ...absentIfNotSet(workloadSpec.omit(FIXED).shape),
        env: z.record(z.string(), shownBoundValue).optional(),
        host_ports: hostPortsReply.optional(),
      })
      .meta({ id: 'ShownPartOverrides' }),
  )
  .meta({ description: 'What was set instead of what the specification says, by name of the part' });
export type Overrides = z.output<typeof overridesReply>;
