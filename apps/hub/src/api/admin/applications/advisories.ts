import { hubEndpoints } from '@svc/contract/hub';
import { applications } from '../../../catalog/kinds.ts';
import { createOf, updateOf, withdrawOf } from '../../request/advisories.ts';

export const createApplicationAdvisory = createOf(hubEndpoints.createApplicationAdvisory, applications);
export const updateApplicationAdvisory = updateOf(hubEndpoints.updateApplicationAdvisory, applications);
export const withdrawApplicationAdvisory = withdrawOf(hubEndpoints.withdrawApplicationAdvisory, applications);
