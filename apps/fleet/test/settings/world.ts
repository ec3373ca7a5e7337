import { type FakeHub, startFakeHub } from '../fake-hub.ts';
import { startBendableIssuer } from '../oidc/bendable-issuer.ts';
import { type ReplicaOptions, startWorld } from '../world.ts';

export const HUB = '/api/v1/settings/hub';
export const OIDC = '/api/v1/settings/oidc';
export const ENVIRONMENT_SECRET = 'the secret of the environment';

/**
 * Two replicas of a fleet whose environment names a hub and an issuer. Another hub and issuer can
 * be set.
 */
export async function startSettingsWorld(options: ReplicaOptions = {}) {
  const hub = await startFakeHub();
  const nextHub = await startFakeHub();
  const issuer = await startBendableIssuer();
  const nextIssuer = await startBendableIssuer();
  const oidc = {
    issuer: issuer.url,
    client_id: 'fleet',
    client_secret: ENVIRONMENT_SECRET,
    role_map: { staff: 'operator' } as const,
  };
  const environment: ReplicaOptions = { hub: { url: hub.url, key: hub.key }, oidc, ...options };
  const world = await startWorld(environment);
  const token = await world.aToken({ role: 'admin' });

  const asAdmin = (given: ReplicaOptions) => {
    const { api } = world.aReplica(given);
    return { api, admin: api(`Bearer ${token.secret}`) };
  };
  /** A replica with the API of an admin. */
  const aReplica = (changed: ReplicaOptions = {}) => asAdmin({ ...environment, ...changed });
  const one = aReplica();
  const other = aReplica();
  afterEach(async () => {
    await Promise.all([HUB, OIDC].map((path) => one.admin.delete(path)));
    for (const each of [hub, nextHub]) each.reset();
    for (const each of [issuer, nextIssuer]) {
      each.straighten();
      each.requests.splice(0);
    }
  });
  afterAll(async () => {
    await world.stop();
    await Promise.all([hub, nextHub, issuer, nextIssuer].map((each) => each.stop()));
  });
  return {
    ...world,
    world,
    token,
    hub,
    nextHub,
    issuer,
    nextIssuer,
    environment,
    aReplica,
    aBareReplica: () => asAdmin({}),
    one,
    other,
  };
}

/** The keys that a hub received. */
export const keysAt = ({ requests }: FakeHub): readonly string[] => [
  ...new Set(requests.map(({ authorization = '' }) => authorization.replace('Bearer ', ''))),
];
