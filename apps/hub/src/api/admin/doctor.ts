import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../request/context.ts';

export const runDoctor = route(hubEndpoints.runDoctor, async ({ diagnosis }) => ({ report: await diagnosis.report() }));
