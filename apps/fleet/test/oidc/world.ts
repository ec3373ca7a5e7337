import { startBendableIssuer } from './bendable-issuer.ts';
import { aFleet, type FleetOptions } from './fleet.ts';

/** An issuer whose responses tests can override, and fleets with empty caches. */
export async function startOidcWorld() {
  const issuer = await startBendableIssuer();
  const fleets: ReturnType<typeof aFleet>[] = [];
  afterEach(() => issuer.straighten());
  afterAll(async () => {
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    await issuer.stop();
  });
  return {
    issuer,
    aFleet: (changed: FleetOptions = {}) => {
      const fleet = aFleet(issuer, changed);
      fleets.push(fleet);
      return fleet;
    },
  };
}
