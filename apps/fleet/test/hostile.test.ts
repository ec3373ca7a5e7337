// Generated requests against every endpoint. HOSTILE_REQUESTS=2000 is the long form (200 for each endpoint otherwise),
// HOSTILE_SEED=<number> repeats a run that failed.
import { fleetService, openApiDocument } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { testHostileInput } from '@svc/testing';
import { startWorld, TEMPORARY_ADMIN } from './world.ts';

const world = await startWorld(); // without a hub: a sync that is asked for is a 409
const bearer = async (role: 'viewer' | 'operator' | 'admin') => `Bearer ${(await world.aToken({ role })).secret}`;

testHostileInput({
  endpoints: Object.values(fleetEndpoints),
  app: world.app,
  document: openApiDocument(fleetService),
  callers: {
    nobody: undefined,
    viewer: await bearer('viewer'),
    operator: await bearer('operator'),
    admin: await bearer('admin'),
    'temporary admin': `Bearer ${(await world.signIn()).access_token}`,
  },
  known: async () => ({
    username: [TEMPORARY_ADMIN.username],
    password: [TEMPORARY_ADMIN.password],
    // From elsewhere: the address of the generated requests is throttled, as many guesses as they make.
    refresh_token: [(await world.signIn({ 'X-Forwarded-For': '192.0.2.7' })).refresh_token],
  }),
});

afterAll(() => world.stop());
