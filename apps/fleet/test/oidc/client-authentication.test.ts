import { GrantRefused, ProviderUnavailable } from '@svc/auth/oidc';
import type { IssuerRequest, Responder } from './bendable-issuer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();

const refused: Responder = () => ({
  status: 401,
  headers: { 'WWW-Authenticate': 'Basic realm="provider", error="invalid_client"' },
  body: { error: 'invalid_client', error_description: 'the description' },
});
const offer = (...methods: string[]) => issuer.bendMetadata({ token_endpoint_auth_methods_supported: methods });
const isByPost = ({ form }: IssuerRequest) => form.has('client_secret');

/** Accepts the secret in only one way. */
const takeOnly = (taken: (request: IssuerRequest) => boolean) =>
  issuer.bend('/token', (request) => (taken(request) ? issuer.tokens() : refused(request)));

async function sentBy(fleet: ReturnType<typeof aFleet>) {
  await fleet.signIn();
  const sent = issuer.lastAt('/token');
  return {
    authorization: sent?.authorization,
    secret: sent?.form.get('client_secret'),
    id: sent?.form.get('client_id'),
  };
}

const basic = { authorization: `Basic ${btoa('fleet:the%2Dsecret')}`, secret: null, id: null };
const post = { authorization: undefined, secret: 'the-secret', id: 'fleet' };

test.each([
  ['Basic', ['client_secret_basic'], basic],
  ['the form', ['client_secret_post'], post],
  ['both', ['client_secret_post', 'client_secret_basic'], basic],
  ['only other methods', ['private_key_jwt'], basic],
])('a provider that offers %s receives the client secret accordingly', async (_, methods, sent) => {
  offer(...methods);
  expect(await sentBy(aFleet())).toEqual(sent);
});

test('a provider that declares no authentication method receives the client secret by Basic', async () => {
  issuer.bendMetadata({ token_endpoint_auth_methods_supported: undefined });
  expect(await sentBy(aFleet())).toEqual(basic);
});

test('a client without a secret sends its ID in the form', async () => {
  expect(await sentBy(aFleet({ clientSecret: undefined }))).toEqual({
    authorization: undefined,
    secret: null,
    id: 'fleet',
  });
});

test('if the provider rejects Basic and offers the form, the form is tried, and used from then on', async () => {
  offer('client_secret_basic', 'client_secret_post');
  takeOnly(isByPost);
  const fleet = aFleet();
  await fleet.signIn();
  const before = issuer.countOf('/token');
  expect(await sentBy(fleet)).toEqual(post);
  expect(issuer.countOf('/token')).toBe(before + 1);
});

test('an authentication method that the provider no longer accepts is replaced', async () => {
  offer('client_secret_basic', 'client_secret_post');
  const fleet = aFleet();
  takeOnly(isByPost);
  await fleet.signIn();
  takeOnly((request) => !isByPost(request));
  expect(await sentBy(fleet)).toEqual(basic);
});

test('a rejected code is not sent again by another authentication method', async () => {
  offer('client_secret_basic', 'client_secret_post');
  issuer.bend('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
  const before = issuer.countOf('/token');
  await expect(aFleet().signIn()).rejects.toThrow(GrantRefused);
  expect(issuer.countOf('/token')).toBe(before + 1);
});

test.each([
  ['invalid_client', 401],
  ['invalid_client', 400],
  ['unauthorized_client', 401],
])(
  'a wrong client secret (%s, %d) is reported as an error of the configuration, without the secret',
  async (error, status) => {
    issuer.bend('/token', () => ({ status, body: { error, error_description: 'the description' } }));
    const failure = await aFleet()
      .signIn()
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({
      name: 'ProviderUnavailable',
      refuses: 'client',
      message: 'The provider refuses this client: the client id or the client secret is wrong.',
    });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(/the-secret|the description/);
  },
);

test('a challenge in a header without an error in the body makes the provider unavailable', async () => {
  issuer.bend('/token', () => ({ status: 401, headers: { 'WWW-Authenticate': 'Basic realm="provider"' }, body: '' }));
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
});
