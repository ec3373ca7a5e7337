import { type BendableIssuer, CLIENT, type Members, startBendableIssuer } from '../oidc/bendable-issuer.ts';
import { type ReplicaOptions, startWorld } from '../world.ts';
import { aBrowser, type Browser, type Tokens } from './browser.ts';

export const SECRET = 'the secret of the fleet: +/%';
export const AUDIENCE = 'https://fleet.example.test';

/** The environment of a fleet whose users are at this issuer. */
const atIssuer = ({ url }: Pick<BendableIssuer, 'url'>) => ({
  issuer: url,
  client_id: CLIENT,
  client_secret: SECRET,
  audience: AUDIENCE,
});

/** Two replicas of a fleet, an issuer whose responses can be overridden, and sign-ins at it. */
export async function startSignInWorld({ oidc, ...options }: ReplicaOptions = {}) {
  const issuer = await startBendableIssuer();
  const environment = { oidc: { ...atIssuer(issuer), ...oidc }, ...options };
  const world = await startWorld(environment);
  const aReplica = (changed: ReplicaOptions = {}) => world.aReplica({ ...environment, ...changed });
  const one = aReplica();
  const other = aReplica();
  const replicas = [one, other] as const;

  afterEach(() => issuer.straighten());
  afterAll(async () => {
    await world.stop();
    await issuer.stop();
  });

  /** Sets the claims of each user who signs in, until the end of the test. */
  const says = (claims: Members) =>
    issuer.bend('/token', async () => issuer.tokens({ id_token: await issuer.idToken(claims) }));
  /** The parameters of the callback after a sign-in at the issuer; undefined removes one. */
  const backFrom = (address: URL, changed: Readonly<Record<string, string | undefined>> = {}) => {
    const { searchParams } = address;
    issuer.nonce = searchParams.get('nonce') ?? '';
    const query = { code: 'a-code', state: searchParams.get('state') ?? '', iss: issuer.url, ...changed };
    return Object.fromEntries(
      Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  };
  const newBrowser = (at: Parameters<typeof aBrowser>[0] = replicas) => aBrowser(at);
  /** A sign-in up to the callback. */
  const enter = async (browser: Browser = newBrowser()) => browser.openCallback(backFrom(await browser.begin()));

  return {
    ...world,
    issuer,
    environment,
    aReplica,
    one,
    other,
    replicas,
    says,
    backFrom,
    newBrowser,
    enter,
    /** Signs in a user with these claims. */
    signIn: async (claims: Members = {}): Promise<Tokens> => {
      says({ role: 'operator', ...claims });
      const browser = newBrowser();
      const { status, body, text } = await browser.exchange(await enter(browser));
      if (status !== 200) throw new Error(`the sign-in answered ${status}: ${text}`);
      return body;
    },
    /** An access token of the issuer itself. */
    accessToken: (claims: Members = {}): Promise<string> =>
      issuer
        .signer()
        .sign(
          { iss: issuer.url, aud: AUDIENCE, sub: 'ada', scope: 'openid', role: 'operator', ...claims },
          { typ: 'at+jwt' },
        ),
  };
}
