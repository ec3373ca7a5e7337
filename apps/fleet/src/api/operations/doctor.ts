import { fleetEndpoints } from '@svc/contract/fleet';
import { route } from '../request/context.ts';

export const runDoctor = route(fleetEndpoints.runDoctor, async ({ diagnosis }) => ({
  report: await diagnosis.report(),
}));
