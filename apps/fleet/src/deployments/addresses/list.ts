import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { compareStrings } from '../../placement/format.ts';
import { referencesOf, type StoredEnv } from '../../render/env.ts';
import { addressText, isAddress } from '../../render/references.ts';

type Listed = Reply<typeof fleetEndpoints.getDeploymentManifest>['bindings'];

/** What the variables of an environment receive from deployments, by the names of the variables and placeholders. */
export const listBindings = (env: StoredEnv): Listed =>
  byName(Object.entries(env)).flatMap(([variable, value]) =>
    byName(referencesOf(value)).flatMap(([, reference]): Listed => {
      if (!('deployment' in reference)) return [];
      const { deployment } = reference;
      return isAddress(reference)
        ? [
            {
              variable,
              deployment,
              bound_variable: null,
              port: reference.port,
              address: addressText(reference) || null,
            },
          ]
        : [{ variable, deployment, bound_variable: reference.variable, port: null, address: null }];
    }),
  );

/** The database does not keep the order of members. */
const byName = <N extends string | undefined, V>(entries: readonly [N, V][]): [N, V][] =>
  entries.toSorted(([one = ''], [other = '']) => compareStrings(one, other));
