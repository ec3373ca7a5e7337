import { fleetEndpoints } from './fleet.ts';
import { hubEndpoints } from './hub.ts';
import type { Service } from './openapi.ts';

/** The hub as its OpenAPI document describes it. */
export const hubService: Service = {
  title: 'Hub',
  description: 'A catalog of deployable templates in categories, some private. Who calls decides what is seen.',
  endpoints: hubEndpoints,
  open: ['catalog'],
  problems: ['organization_suspended'],
};

/** The fleet as its OpenAPI document describes it. */
export const fleetService: Service = {
  title: 'Fleet',
  description: 'The control plane beside the machines: it mirrors a hub’s catalog and deploys from it.',
  endpoints: fleetEndpoints,
  open: ['anyone'],
  problems: [],
};
