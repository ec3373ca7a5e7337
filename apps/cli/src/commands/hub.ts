import { type Hub, hubOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
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
  /** The organization, for administrators; undefined: the one of the caller. */
  readonly org?: string;
  readonly days?: number;
}

interface Key {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly status: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** The keys of an organization that an administrator names, or of that of the caller. */
async function keysOf(hub: Hub, org: string | undefined): Promise<readonly Key[]> {
  if (org === undefined) return (await reply(hub.GET('/api/v1/account/api-keys'))).apiKeys;
  const query = { org_id: await organizationId(hub, org) };
  return (await reply(hub.GET('/api/v1/admin/api-keys', { params: { query } }))).apiKeys;
}

export const listKeys: Action<KeyOptions> = async (_, options) => {
  const keys = await keysOf(hubOf(options), options.org);
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

export const createKey: Action<KeyOptions> = async ([name = ''], { org, days, ...options }) => {
  requireConsent(options);
  const hub = hubOf(options);
  const body = { name, ...given({ expires_in_days: days }) };
  const owner = org === undefined ? undefined : { org_id: await organizationId(hub, org) };
  await confirm(
    `Create the key ${oneLine(name)} for ${org === undefined ? 'your organization' : oneLine(org)}?`,
    options,
  );
  const { apiKey } = owner
    ? await reply(hub.POST('/api/v1/admin/api-keys', { body: { ...body, ...owner } }))
    : await reply(hub.POST('/api/v1/account/api-keys', { body }));
  await printIssued(apiKey, options);
  return undefined;
};

/** The id of a key that is not revoked. Names of keys can be equal. */
async function keyId(hub: Hub, text: string, org: string | undefined): Promise<string> {
  if (isId(text)) return text;
  const keys = await keysOf(hub, org);
  return onlyOne(
    'key',
    text,
    keys.filter(({ name, status }) => name === text && status !== 'revoked'),
  ).id;
}

/** Replaces the secret of a key of the organization of the caller. */
export const rotateKey: Action = async ([name = ''], options) => {
  requireConsent(options);
  const hub = hubOf(options);
  const id = await keyId(hub, name, undefined);
  await confirm(`Replace the key ${oneLine(name)}? The present one becomes invalid at once.`, options);
  await printIssued((await reply(hub.PUT('/api/v1/account/api-keys', { body: { id } }))).apiKey, options);
  return undefined;
};

export const revokeKey: Action<KeyOptions> = async ([name = ''], { org, ...options }) => {
  requireConsent(options);
  const hub = hubOf(options);
  const id = await keyId(hub, name, org);
  await confirm(`Revoke the key ${oneLine(name)}?`, options);
  const { apiKey } =
    org === undefined
      ? await reply(hub.DELETE('/api/v1/account/api-keys', { body: { id } }))
      : await reply(hub.DELETE('/api/v1/admin/api-keys', { body: { id } }));
  await print(apiKey, { format: options.output, as: () => `The key ${apiKey.name} is ${apiKey.status}.` });
  return undefined;
};
