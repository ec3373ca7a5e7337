import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { compareStrings } from '../../placement/format.ts';
import type { HostNetwork } from '../../render/allocation.ts';
import { referencesOf, type StoredEnv } from '../../render/env.ts';
import { type AddressReference, addressText, isAddress } from '../../render/references.ts';

type Listed = Reply<typeof fleetEndpoints.getDeploymentManifest>['bindings'];

/**
 * What the variables of an environment receive from deployments, by the names of the variables and placeholders. `networks`
 * are those of the deployment on its host, its own one first.
 */
export const listBindings = (env: StoredEnv, networks: readonly HostNetwork[]): Listed =>
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
              note: noteOf(reference, networks.slice(1)),
            },
          ]
        : [{ variable, deployment, bound_variable: reference.variable, port: null, address: null, note: null }];
    }),
  );

/** What a deployment also reaches if it joins a network for an address; null if it does not. */
function noteOf({ deployment, at }: AddressReference, joined: readonly HostNetwork[]): string | null {
  const network = joined.find(({ id }) => id === at?.network);
  if (!network) return null;
  const whose =
    network.application_id === null ? 'all deployments without an application' : `the application of ${deployment}`;
  return `joins the network of ${whose}, and reaches all ports of all containers in it`;
}

/** The database does not keep the order of members. */
const byName = <N extends string | undefined, V>(entries: readonly [N, V][]): [N, V][] =>
  entries.toSorted(([one = ''], [other = '']) => compareStrings(one, other));
