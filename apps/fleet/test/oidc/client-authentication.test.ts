import { GrantRefused, ProviderUnavailable } from '../../src/oidc/provider.ts';
import type { Answering, Asked } from './bendable-issuer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();

const refused: Answering = () => ({
  status: 401,
  headers: { 'WWW-Authenticate': 'Basic realm="provider", error="invalid_client"' },
  body: { error: 'invalid_client', error_description: 'the description' },
});
const offer = (...methods: string[]) => issuer.bendMetadata({ token_endpoint_auth_methods_supported: methods });
const isByPost = ({ form }: Asked) => form.has('client_secret');

/** Takes the secret in one way only. */
const takeOnly = (taken: (asked: Asked) => boolean) =>
  issuer.bend('/token', (asked) => (taken(asked) ? issuer.tokens() : refused(asked)));

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
  ['others only', ['private_key_jwt'], basic],
])('to a provider that offers %s the secret goes as it offers', async (_, methods, sent) => {
  offer(...methods);
  expect(await sentBy(aFleet())).toEqual(sent);
});

test('a provider that does not say how gets the secret by Basic', async () => {
  issuer.bendMetadata({ token_endpoint_auth_methods_supported: undefined });
  expect(await sentBy(aFleet())).toEqual(basic);
});

test('a client without a secret names itself in the form', async () => {
  expect(await sentBy(aFleet({ clientSecret: undefined }))).toEqual({
    authorization: undefined,
    secret: null,
    id: 'fleet',
  });
});

test('where Basic is refused and the form is offered the form is tried, and kept', async () => {
  offer('client_secret_basic', 'client_secret_post');
  takeOnly(isByPost);
  const fleet = aFleet();
  await fleet.signIn();
  const before = issuer.countOf('/token');
  expect(await sentBy(fleet)).toEqual(post);
  expect(issuer.countOf('/token')).toBe(before + 1);
});

test('a way that is no longer taken is left again', async () => {
  offer('client_secret_basic', 'client_secret_post');
  const fleet = aFleet();
  takeOnly(isByPost);
  await fleet.signIn();
  takeOnly((asked) => !isByPost(asked));
  expect(await sentBy(fleet)).toEqual(basic);
});

test('a code that is refused is not tried in another way', async () => {
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
])('a wrong secret (%s, %d) is the configuration’s fault, and is told without the secret', async (error, status) => {
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
});

test('a challenge in a header instead of a body is no answer for now', async () => {
  issuer.bend('/token', () => ({ status: 401, headers: { 'WWW-Authenticate': 'Basic realm="provider"' }, body: '' }));
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
});
