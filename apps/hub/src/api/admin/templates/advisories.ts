import { hubEndpoints } from '@svc/contract/hub';
import { templates } from '../../../catalog/kinds.ts';
import { createOf, updateOf, withdrawOf } from '../../request/advisories.ts';

export const createAdvisory = createOf(hubEndpoints.createAdvisory, templates);
export const updateAdvisory = updateOf(hubEndpoints.updateAdvisory, templates);
export const withdrawAdvisory = withdrawOf(hubEndpoints.withdrawAdvisory, templates);
