import { createProvider, type ProviderSettings } from '@svc/auth/oidc';
import { createOutbound } from '@svc/http';
import { type BendableIssuer, CLIENT } from './bendable-issuer.ts';
import { secrets } from './secrets.ts';

export const REDIRECT = 'https://fleet.example.test/api/v1/auth/oidc/callback';
const SECRET = 'the-secret';

const MAX_BYTES = 64 * 1024;

/**
 * Settings that differ from the default. The timeout is long, except where a test waits for it to
 * end.
 */
export type FleetOptions = Partial<ProviderSettings> & { readonly timeoutMs?: number };

/**
 * The fleet as a client of the issuer. Requests are sent as in the service. The clock only moves
 * when a test moves it.
 */
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
      keyIntervalMs: 100,
    },
  );

  /**
   * Starts a sign-in. @returns the callback with these changes of its query; undefined removes a
   * member
   */
  const newCallback = (query: Readonly<Record<string, string | undefined>> = {}) => {
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
    /** The paths that the fleet has requested, each from the start of the request. */
    sent,
    newCallback,
    signIn: (query?: Readonly<Record<string, string | undefined>>) => provider.redeemCallback(newCallback(query)),
    /** Moves the clock of the caches. */
    wait: (milliseconds: number) => {
      clock.now += milliseconds;
    },
    stop: () => outbound.close(),
  };
}
