import { z } from 'zod';
import { partName } from '../../applications/index.ts';
import { record } from '../../shared/wire.ts';
import { dnsLabel } from '../../template/fields.ts';

const used = z
  .strictObject({
    deployment: dnsLabel.meta({ description: 'Name of the deployment' }),
    ports: record(
      z.string().regex(/^[1-9]\d{0,4}$/, 'must be a port of the part, such as 5432'),
      z.int().min(1).max(65_535),
      32,
    )
      .default({})
      .meta({ description: 'For ports of the part, the ports of the deployment that differ from them' }),
  })
  .meta({ id: 'UsedDeployment', examples: [{ deployment: 'shared-database', ports: { '5432': 5433 } }] });

const DESCRIPTION =
  'By name of the part, a deployment that runs already and serves instead of it. Addresses of the part are those of the deployment';

/** The deployments that serve instead of parts of a new application. */
export const uses = record(partName, used, 32).meta({ description: DESCRIPTION });

/** A change of them. */
export const changedUses = record(partName, used.nullable(), 32).meta({
  description: `${DESCRIPTION}; null: the application runs the part itself. Parts that are left out do not change`,
});

export const usesReply = z
  .record(z.string(), z.object({ deployment: z.string(), ports: z.record(z.string(), z.int()) }))
  .meta({ description: 'The deployments that serve instead of parts, by names of parts' });
export type Uses = z.output<typeof usesReply>;
