import type { ApplicationChange } from '../change.ts';
import type { Origin } from '../origin.ts';

/** The change to an application of the catalog. `by` is added to the message of its event: by what it is made. */
export const upgradeTo = (
  origin: Origin,
  { by, ...given }: Pick<ApplicationChange, 'inputs' | 'expected' | 'force'> & { readonly by?: string } = {},
): ApplicationChange => ({
  operation: 'upgrade',
  message: `upgraded to version ${origin.version} of ${origin.slug}${by === undefined ? '' : ` ${by}`}`,
  spec: origin.spec,
  origin,
  ...given,
});
