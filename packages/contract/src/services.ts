import { fleetEndpoints } from './fleet.ts';
import { hubEndpoints } from './hub.ts';
import type { Service } from './openapi.ts';

/** The hub, for its OpenAPI document. */
export const hubService: Service = {
  title: 'Hub',
  description:
    'A catalog of deployable templates in public and private categories. Responses contain what is visible to the caller.',
  endpoints: hubEndpoints,
  open: ['catalog'],
  problems: ['organization_suspended'],
};

/** The fleet, for its OpenAPI document. */
export const fleetService: Service = {
  title: 'Fleet',
  description: 'A control plane that mirrors the catalog of a hub and deploys templates on hosts and clusters.',
  endpoints: fleetEndpoints,
  open: ['anyone'],
  problems: [],
};
