import { fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { Failure } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { tokenId } from '../names.ts';
import { print, tell } from '../output.ts';
import { readValues } from '../stdin.ts';
import { oneLine } from '../text.ts';

interface SecretOptions extends Common {
  readonly kind: 'opaque' | 'registry' | 'tls';
  readonly server?: string;
  /** Also removes the keys that are not stated. */
  readonly replace?: boolean;
}

/** Creates a secret, or replaces the values of an existing one. */
export const setSecret: Action<SecretOptions> = async ([name = '', ...texts], options) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  const values = await readValues(texts);
  const { secrets } = await reply(fleet.GET('/api/v1/secrets', { params: { query: { name, limit: 2 } } }));
  const [existing] = secrets;
  if (!existing) {
    await confirm(`Create the secret ${oneLine(name)}?`, options);
    const body = { name, kind: options.kind, values, ...given({ server: options.server }) };
    await printSecret((await reply(fleet.POST('/api/v1/secrets', { body }))).secret, options);
    return undefined;
  }
  const lost = existing.keys.filter((key) => !Object.hasOwn(values, key));
  if (lost.length > 0 && options.replace !== true) {
    throw new Failure(
      `The secret ${name} also has ${lost.join(', ')}, and its values are replaced together. State all of them, or add --replace to remove these.`,
    );
  }
  await confirm(`Replace the values of ${oneLine(name)}, which ${existing.used_by.length} objects use?`, options);
  const params = { path: { id: existing.id }, header: { 'If-Match': `"${existing.version}"` } };
  await printSecret((await reply(fleet.PUT('/api/v1/secrets/{id}', { params, body: { values } }))).secret, options);
  return undefined;
};

interface Secret {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly keys: readonly string[];
  readonly used_by: readonly { readonly kind: string; readonly name: string }[];
}

const printSecret = (secret: Secret, { output }: Common) =>
  print(secret, {
    format: output,
    as: () => ({
      name: secret.name,
      id: secret.id,
      kind: secret.kind,
      keys: secret.keys.join(', '),
      'used by': secret.used_by.map(({ kind, name }) => `${kind} ${name}`).join(', '),
    }),
  });

interface TokenOptions extends Common {
  readonly role: 'admin' | 'operator' | 'viewer';
  readonly days?: number;
  readonly keepDependents?: boolean;
}

interface IssuedToken {
  readonly name: string;
  readonly secret: string;
  readonly expires_at: string | null;
}

/** Prints the secret alone, so that a script can store it. It is shown once. */
async function printIssued(token: IssuedToken, { output }: Common): Promise<void> {
  tell(
    `The token ${token.name} ${token.expires_at === null ? 'does not expire' : `expires at ${token.expires_at}`}. It is shown once.`,
  );
  await print(token, { format: output, as: () => token.secret });
}

/** Creates an MCP token. */
export const createToken: Action<TokenOptions> = async ([name = ''], { role, days = null, ...options }) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  await confirm(`Create the token ${oneLine(name)} with the role ${role}?`, options);
  const { token } = await reply(fleet.POST('/api/v1/tokens', { body: { name, role, expires_in_days: days } }));
  await printIssued(token, options);
  return undefined;
};

/** Replaces the secret of a token. */
export const rotateToken: Action = async ([name = ''], options) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  const id = await tokenId(fleet, name);
  await confirm(`Replace the secret of ${oneLine(name)}? The present one becomes invalid at once.`, options);
  const { token } = await reply(fleet.POST('/api/v1/tokens/{id}/reissue', { params: { path: { id } } }));
  await printIssued(token, options);
  return undefined;
};

/** Revokes a token, and the tokens that were created with it. */
export const revokeToken: Action<TokenOptions> = async ([name = ''], { keepDependents, ...options }) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  const id = await tokenId(fleet, name);
  await confirm(`Revoke the token ${oneLine(name)}?`, options);
  const query = given({ keep: keepDependents === true ? ('dependents' as const) : undefined });
  const revoked = await reply(fleet.DELETE('/api/v1/tokens/{id}', { params: { path: { id }, query } }));
  await print(revoked, {
    format: options.output,
    as: () => ({ revoked: revoked.token.name, 'also revoked': revoked.revoked.length, kept: revoked.kept.length }),
  });
  return undefined;
};
