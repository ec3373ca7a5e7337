// After a restart, all fleets poll at the same time, often from one address.
import { newSecretToken } from '@svc/auth';
import { anInstance, startWorld } from '../world.ts';

const FLEETS = 24;
const LIMIT = 10;
const POLL = '/api/v1/catalog/templates/updates?since=2999-01-01T00:00:00Z';

const world = await startWorld();
afterAll(() => world.stop());
const open = await world.aCategory();
const hidden = await world.aCategory({ is_private: true });
await world.aTemplate({ category_id: open.id });
await world.aTemplate({ category_id: hidden.id });
const organizations = await Promise.all(Array.from({ length: FLEETS }, () => world.anOrganization()));
for (const organization of organizations.slice(0, 2)) await world.aGrant(organization, hidden);

/** A hub that was just started, whose rate limit is lower than the number of fleets. */
const restarted = () =>
  anInstance(world.databaseUrl, world.issuer, {
    service: {
      rateLimit: true,
      requestsPerMinute: LIMIT,
      rejectionDelay: { burst: FLEETS, perSecond: 1000, pause: async () => undefined, maxDelayed: FLEETS },
    },
  });

test('no poll is refused, although more fleets than the limit of their address poll at the same time', async () => {
  const hub = restarted();
  try {
    const answers = await Promise.all(organizations.map(({ key }) => hub.api(`Bearer ${key}`).get(POLL)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // The address itself has all its requests left.
    for (let count = 0; count < LIMIT; count += 1) expect((await hub.api().get(POLL)).status).toBe(200);
    expect((await hub.api().get(POLL)).status).toBe(429);
    expect((await hub.api(`Bearer ${organizations[0]?.key}`).get(POLL)).status).toBe(200);
  } finally {
    await hub.stop();
  }
});

test('keys that are not valid count for their address, also if they arrive at the same time', async () => {
  const hub = restarted();
  try {
    const answers = await Promise.all(organizations.map(() => hub.api(`Bearer ${newSecretToken('svcc_')}`).get(POLL)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(FLEETS - LIMIT);
    expect((await hub.api().get(POLL)).status).toBe(429);
  } finally {
    await hub.stop();
  }
});
