import { fleetEndpoints } from '@svc/contract/fleet';
import { revealValue } from '../../deployments/values/reveal.ts';
import { changeRoute } from '../request/change.ts';

export const revealDeploymentValue = changeRoute(fleetEndpoints.revealDeploymentValue, (context, { params }) =>
  revealValue(context, params),
);
