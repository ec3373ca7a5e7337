import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../context.ts';

export const runDoctor = route(hubEndpoints.runDoctor, async ({ diagnosis }) => ({ report: await diagnosis.report() }));
