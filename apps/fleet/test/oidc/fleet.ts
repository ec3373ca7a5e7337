import { createOutbound } from '@svc/http';
import { createProvider, type ProviderSettings } from '../../src/oidc/provider.ts';
import { type BendableIssuer, CLIENT } from './bendable-issuer.ts';
import { secrets } from './secrets.ts';

export const REDIRECT = 'https://fleet.example.test/api/v1/auth/oidc/callback';
const SECRET = 'the-secret';

const MAX_BYTES = 64 * 1024;

/** What is other than usual; the time for an answer is long, save where a test waits for it to end. */
export type FleetOptions = Partial<ProviderSettings> & { readonly timeoutMs?: number };

/** The fleet as a client of the issuer: requests leave as they do in the service, and time stands still unless moved. */
export function aFleet(issuer: BendableIssuer, { timeoutMs = 10_000, ...changed }: FleetOptions = {}) {
  const clock = { now: Date.now() };
  const outbound = createOutbound({ timeoutMs, maxBytes: MAX_BYTES });
  const sent: string[] = [];
  const provider = createProvider(
    { issuer: issuer.url, clientId: CLIENT, clientSecret: SECRET, allowUserinfo: false, ...changed },
    {
      send: (request) => {
        sent.push(request.url.pathname);
        return outbound.send(request);
      },
      now: () => clock.now,
    },
  );

  /** Begins a sign-in, as far as the redirect back, whose query can be changed; undefined takes a member out. */
  const comeBack = (query: Readonly<Record<string, string | undefined>> = {}) => {
    const begun = secrets();
    issuer.nonce = begun.nonce;
    const currentUrl = new URL(REDIRECT);
    for (const [name, value] of Object.entries({ code: 'a-code', state: begun.state, iss: issuer.url, ...query })) {
      if (value !== undefined) currentUrl.searchParams.set(name, value);
    }
    return { ...begun, currentUrl };
  };
  return {
    provider,
    /** The paths that it has asked for, each from the moment when it asks. */
    sent,
    comeBack,
    signIn: (query?: Readonly<Record<string, string | undefined>>) => provider.redeemCallback(comeBack(query)),
    /** Moves the clock of what is remembered. */
    wait: (milliseconds: number) => {
      clock.now += milliseconds;
    },
    stop: () => outbound.close(),
  };
}
