import { type Hub, hubOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { Failure } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { categoryId, isId, onlyOne, organizationId } from '../names.ts';
import { ageOf, print, tell } from '../output.ts';
import { oneLine } from '../text.ts';

interface GrantOptions extends Common {
  readonly revoke?: boolean;
}

/** Lets an organization see a private category, or no longer. */
export const grant: Action<GrantOptions> = async ([organization = '', category = ''], options) => {
  requireConsent(options);
  const hub = hubOf(options);
  const [org_id, category_id] = await Promise.all([organizationId(hub, organization), categoryId(hub, category)]);
  const pair = `${oneLine(organization)} and ${oneLine(category)}`;
  if (options.revoke === true) {
    await confirm(`Revoke the grant of ${pair}?`, options);
    await reply(hub.DELETE('/api/v1/admin/catalog-access', { body: { org_id, category_id } }));
    await print({ organization, category, granted: false }, { format: options.output, as: () => 'Revoked.' });
    return undefined;
  }
  await confirm(`Create the grant of ${pair}?`, options);
  const created = await reply(hub.POST('/api/v1/admin/catalog-access', { body: { org_id, category_id } }));
  await print(created.grant, {
    format: options.output,
    as: () => `The organization ${created.grant.org_slug} sees the category ${created.grant.category_slug}.`,
  });
  return undefined;
};

interface KeyOptions extends Common {
  readonly days?: number;
}

const ownKeys = async (hub: Hub) => (await reply(hub.GET('/api/v1/account/api-keys'))).apiKeys;

/** The keys of the organization of the caller. */
export const listKeys: Action = async (_, options) => {
  const keys = await ownKeys(hubOf(options));
  await print(keys, {
    format: options.output,
    as: () => ({
      columns: ['NAME', 'PREFIX', 'STATUS', 'AGE', 'EXPIRES', 'LAST USED'],
      rows: keys.map((key) => [
        key.name,
        key.key_prefix,
        key.status,
        ageOf(key.created_at),
        key.expires_at,
        key.last_used_at,
      ]),
    }),
  });
  return undefined;
};

interface IssuedKey {
  readonly name: string;
  readonly key: string;
}

/** Prints the key alone, so that a script can store it. It is shown once. */
async function printIssued(key: IssuedKey, { output }: Common): Promise<void> {
  tell(`The key ${key.name} is shown once.`);
  await print(key, { format: output, as: () => key.key });
}

export const createKey: Action<KeyOptions> = async ([name = ''], { days, ...options }) => {
  requireConsent(options);
  const hub = hubOf(options);
  await confirm(`Create the key ${oneLine(name)} for your organization?`, options);
  const body = { name, ...given({ expires_in_days: days }) };
  await printIssued((await reply(hub.POST('/api/v1/account/api-keys', { body }))).apiKey, options);
  return undefined;
};

/** The id of a key of the organization of the caller that is not revoked. */
async function keyId(hub: Hub, text: string): Promise<string> {
  if (isId(text)) return text;
  const keys = await ownKeys(hub);
  return onlyOne(
    'key',
    text,
    keys.filter(({ name, status }) => name === text && status !== 'revoked'),
  ).id;
}

/** Replaces the secret of a key. */
export const rotateKey: Action = async ([name = ''], options) => {
  requireConsent(options);
  const hub = hubOf(options);
  const id = await keyId(hub, name);
  await confirm(`Replace the key ${oneLine(name)}? The present one becomes invalid at once.`, options);
  await printIssued((await reply(hub.PUT('/api/v1/account/api-keys', { body: { id } }))).apiKey, options);
  return undefined;
};

export const revokeKey: Action = async ([name = ''], options) => {
  requireConsent(options);
  const hub = hubOf(options);
  const id = await keyId(hub, name);
  await confirm(`Revoke the key ${oneLine(name)}?`, options);
  const { apiKey } = await reply(hub.DELETE('/api/v1/account/api-keys', { body: { id } }));
  if (apiKey.status !== 'revoked') throw new Failure(`The key ${apiKey.name} is ${apiKey.status}.`);
  await print(apiKey, { format: options.output, as: () => `The key ${apiKey.name} is revoked.` });
  return undefined;
};
