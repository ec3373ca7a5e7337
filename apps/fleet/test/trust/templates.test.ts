// Who has signed the templates of the mirror, as lists and metrics show it.
import request from 'supertest';
import { aPlainTemplate, withTemplate } from '../deployments/templates/advised.ts';
import { startDeploymentWorld } from '../deployments/world.ts';
import { aPublisher, keyringOf, signedBy } from './signed.ts';

const fleet = await startDeploymentWorld();
const { admin, operator } = fleet;
const acme = await aPublisher(fleet);
const template = aPlainTemplate();
const { publish, reset, deployed } = withTemplate(fleet, template);

beforeEach(async () => {
  reset();
  await acme.forget();
  await fleet.aHost();
  await acme.trust();
  await acme.policy({ mode: 'warn' });
});

/** What the list and the page of a template state, which must agree. */
async function trustOf(slug = 'tool') {
  const { templates } = (await operator.get('/api/v1/catalog/templates?view=summary')).body;
  const listed = templates.find((each: { slug: string }) => each.slug === slug);
  const { body } = await operator.get(`/api/v1/catalog/templates/${slug}`);
  expect(body.trust).toEqual(listed.trust);
  return body.trust;
}
const measured = async () => {
  const { text } = await request(fleet.world.aReplica().app).get('/metrics');
  return text.split('\n').filter((line) => /^(?:catalog_untrusted_templates|trust_keyring)/.test(line));
};
const untrusted = (reason: string, used: string) => `catalog_untrusted_templates{reason="${reason}",used="${used}"} 1`;
const revoke = async () => {
  const keyring = await keyringOf(acme.root, { version: 2, keys: [{ ...acme.key.key, revoked: true }] });
  return admin.put('/api/v1/settings/publishers/acme/keyring', { keyring });
};

test('a sync verifies what has changed, and lists state the publisher or why a template is not trusted', async () => {
  await publish(await signedBy(acme.key, template));
  expect(await trustOf()).toEqual({ state: 'trusted', publisher: 'acme', publisher_name: 'Acme', reason: null });
  expect(await trustOf('other')).toMatchObject({ state: 'untrusted', publisher: null, reason: 'unsigned' });
  await publish({ image_tag: '19' });
  expect(await trustOf()).toMatchObject({ state: 'untrusted', reason: 'content_changed' });
});

test('other keys and another policy apply to all templates with the next sync', async () => {
  await publish(await signedBy(acme.key, template));
  await revoke();
  await fleet.sync();
  expect(await trustOf()).toMatchObject({ state: 'untrusted', reason: 'key_revoked' });
  await acme.policy({ mode: 'off' });
  await fleet.sync();
  expect(await trustOf()).toBeNull();
});

test('metrics count what is not trusted by its reason, and by whether it runs, and state when keyrings expire', async () => {
  await publish(await signedBy(acme.key, template, { serial: 5 }));
  await deployed();
  expect(await measured()).toEqual([
    untrusted('unsigned', 'no'),
    expect.stringMatching(/^trust_keyring_expiry_timestamp_seconds\{publisher="acme"\} \d+/),
  ]);
  await publish(await signedBy(acme.key, { ...template, image_tag: '19' }, { serial: 5 }));
  expect(await measured()).toEqual(
    expect.arrayContaining([untrusted('equivocation', 'yes'), untrusted('unsigned', 'no')]),
  );
  await acme.policy({ mode: 'off' });
  await fleet.sync();
  expect(await measured()).toEqual([]);
});
