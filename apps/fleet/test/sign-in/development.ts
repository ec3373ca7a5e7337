import { startIdentityProvider } from '@svc/identity-provider/server';
import { signInByBrowser } from '@svc/testing';
import { startWorld } from '../world.ts';
import { aBrowser, type Browser, CALLBACK } from './browser.ts';

export const AUDIENCE = 'https://fleet.example.test';
/** The audience of access tokens for the MCP endpoint. */
export const MCP = 'http://127.0.0.1:4200/mcp';
const SECRET = 'the-secret of the fleet: +/%';
const PASSWORD = 'development';
const PUBLIC_URL = 'http://127.0.0.1:4200';
/** The redirect URI of a frontend that does its own redirect. */
export const APP = `${PUBLIC_URL}/app/callback`;

/** Two replicas of a fleet whose users sign in at the development identity provider. */
export async function startDevelopmentWorld() {
  const provider = await startIdentityProvider({
    port: 0,
    host: '127.0.0.1',
    audiences: [AUDIENCE, MCP],
    redirectUris: [`${PUBLIC_URL}${CALLBACK}`, APP],
    fleetClientSecret: SECRET,
    password: PASSWORD,
  });
  const { issuer } = provider;
  const oidc = { issuer, client_id: 'fleet', client_secret: SECRET, audience: AUDIENCE };
  const environment = { oidc, publicUrl: PUBLIC_URL };
  const world = await startWorld(environment);
  const replicas = [world.aReplica(environment), world.aReplica(environment)] as const;
  const metadata = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as {
    readonly authorization_endpoint: string;
    readonly token_endpoint: string;
    readonly revocation_endpoint: string;
  };
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });

  /** Submits the form of the provider. @returns the parameters of the callback */
  const fillIn = async (address: URL, email: string, backTo = `${PUBLIC_URL}${CALLBACK}`) => {
    const back = await signInByBrowser(address, backTo, { email, password: PASSWORD });
    return Object.fromEntries(back.searchParams);
  };
  return {
    ...world,
    issuer,
    metadata,
    environment,
    replicas,
    newBrowser: () => aBrowser(replicas),
    fillIn,
    /** A sign-in up to the callback. */
    enter: async (browser: Browser, email: string, returnTo?: string) =>
      browser.openCallback(await fillIn(await browser.begin(returnTo), email)),
    askAsFleet,
    /** Redeems a code as the client of the fleet. */
    redeemAsFleet: async (form: Readonly<Record<string, string>>) => {
      const answer = await askAsFleet(metadata.token_endpoint, { grant_type: 'authorization_code', ...form });
      // RFC 6749 defines its members.
      return (await answer.json()) as Record<string, string | undefined>;
    },
  };
}

/** A request of the client of the fleet with its authentication (RFC 6749, section 2.3.1). */
const askAsFleet = (endpoint: string, form: Readonly<Record<string, string>>) =>
  fetch(endpoint, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(['fleet', SECRET].map(formEncoded).join(':')).toString('base64')}` },
    body: new URLSearchParams(form),
  });

const formEncoded = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length);
