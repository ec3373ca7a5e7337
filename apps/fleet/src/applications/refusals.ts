import { refuse } from '../deployments/refusals.ts';
import type { PartRefusal } from './decide.ts';

/** @throws 422 with all refusals if there are any, by part; 409 if all are `name_taken` */
export const refusePart = (refusals: readonly PartRefusal[]): void =>
  refuse(
    refusals.map(({ part, path, ...refusal }) => ({
      ...refusal,
      path: part === null ? path : `parts.${part}.${path}`,
    })),
  );
