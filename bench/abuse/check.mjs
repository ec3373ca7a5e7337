// Requires that `pnpm bench:abuse` has requests for each operation of the contract.
import { fleetEndpoints } from '@svc/contract/fleet';
import { hubEndpoints } from '@svc/contract/hub';
import { missingIn, routesOf } from './requests.mjs';

const missing = [
  ...missingIn(routesOf({ isHub: true }), hubEndpoints),
  ...missingIn(routesOf({ isHub: false, ids: {} }), fleetEndpoints),
];
for (const operation of missing) console.error(`${operation}: state its requests in bench/abuse/requests.mjs`);
if (missing.length > 0) process.exitCode = 1;
