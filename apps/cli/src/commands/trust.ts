import { readFile } from 'node:fs/promises';
import { fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { UsageError } from '../errors.ts';
import type { components } from '../generated/fleet.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { print } from '../output.ts';
import { oneLine } from '../text.ts';

type Publisher = components['schemas']['TrustedPublisher'];
type Plan = components['schemas']['TrustPlan'];
type PolicyInput = components['requestBodies']['SetTrustPolicy']['content']['application/json'];

/** Shows the policy and the publishers that a fleet trusts. */
export const show: Action = async (_, options) => {
  const fleet = fleetOf(options);
  const policy = await reply(fleet.GET('/api/v1/settings/trust'));
  const { publishers } = await reply(fleet.GET('/api/v1/settings/publishers'));
  await print(
    { policy, publishers },
    {
      format: options.output,
      as: () => ({
        mode: policy.mode,
        'require digest': policy.require_digest,
        'by hand': policy.by_hand,
        overrides: policy.overrides,
        targets: policy.targets === null ? 'all' : JSON.stringify(policy.targets),
        exceptions: policy.exceptions.length,
        ...Object.fromEntries(publishers.map((publisher) => [publisher.slug, stateOf(publisher)])),
      }),
    },
  );
  return undefined;
};

const stateOf = ({ name, root, keyring_version: version, expires_at, extended_until }: Publisher): string =>
  `${name}, root ${root}, ${version === null ? 'no keyring' : `keyring ${version} until ${extended_until ?? expires_at}`}`;

interface AddOptions extends Common {
  readonly root: string;
  readonly name?: string;
  readonly image: readonly string[];
  readonly slug: readonly string[];
  readonly secret: readonly string[];
}

/** Trusts a publisher. The thumbprint of its root key is printed, to be compared with the publisher. */
export const add: Action<AddOptions> = async (
  [slug = ''],
  { root, name = slug, image, slug: slugs, secret, ...options },
) => {
  requireConsent(options);
  if (image.length === 0) throw new UsageError('State at least one --image, such as docker.io/library/* or *.');
  const body = {
    slug,
    name,
    root: await readFile(root, 'utf8'),
    images: [...image],
    secrets: [...secret],
    ...(slugs.length > 0 && { slugs: [...slugs] }),
  };
  await confirm(`Trust ${oneLine(slug)} with the root key in ${root}?`, options);
  const { publisher } = await reply(fleetOf(options).POST('/api/v1/settings/publishers', { body }));
  await printPublisher(publisher, options);
  return undefined;
};

const printPublisher = (publisher: Publisher, { output }: Common) =>
  print(publisher, {
    format: output,
    as: () => ({
      slug: publisher.slug,
      name: publisher.name,
      root: publisher.root,
      images: publisher.images.join(', '),
      slugs: publisher.slugs.join(', '),
      secrets: publisher.secrets.join(', '),
      keyring: publisher.keyring_version,
      'expires at': publisher.expires_at,
    }),
  });

/** Imports the keyring of a publisher, as its folder contains it. */
export const importKeyring: Action = async ([slug = '', file = ''], options) => {
  requireConsent(options);
  const { keyring, transitions } = readKeyring(await readFile(file, 'utf8'), file);
  await confirm(`Import the keyring in ${file}?`, options);
  const params = { path: { slug } };
  const body = { keyring, ...given({ transitions }) };
  const { publisher } = await reply(
    fleetOf(options).PUT('/api/v1/settings/publishers/{slug}/keyring', { params, body }),
  );
  await printPublisher(publisher, options);
  return undefined;
};

function readKeyring(text: string, file: string): { readonly keyring: string; readonly transitions?: string[] } {
  const value: unknown = parse(text);
  const { keyring, transitions } = Object(value);
  const isList = Array.isArray(transitions) && transitions.every((each) => typeof each === 'string');
  if (typeof keyring !== 'string' || (transitions !== undefined && !isList))
    throw new UsageError(`${file} is no keyring.json of a publisher.`);
  return { keyring, ...(isList && { transitions }) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const refusedOf = ({ templates, applications = { refused: 0, total: 0 }, deployments }: Plan): string =>
  [
    `${templates.refused} of ${templates.total} templates`,
    `${applications.refused} of ${applications.total} applications`,
    `and ${deployments.refused} of ${deployments.total} deployments would be refused`,
  ].join(', ');

/** Shows what the policy would refuse if it required trust. */
export const plan: Action = async (_, options) => {
  const fleet = fleetOf(options);
  const planned = await planOf(fleet, await policyOf(fleet));
  await print(planned, {
    format: options.output,
    as: () => `${refusedOf(planned)}.${planned.reasons.map(lineOf).join('')}`,
  });
  return undefined;
};

const lineOf = ({ reason, templates, applications = 0, deployments }: Plan['reasons'][number]): string =>
  `\n${reason}: ${templates} templates, ${applications} applications, ${deployments} deployments`;

type Fleet = ReturnType<typeof fleetOf>;

/** The policy, as a request contains it. */
const policyOf = async (fleet: Fleet): Promise<PolicyInput> =>
  // Responses can have values of a later version, which the fleet then refuses.
  (await reply(fleet.GET('/api/v1/settings/trust'))) as PolicyInput;

const planOf = (fleet: Fleet, body: PolicyInput) => reply(fleet.POST('/api/v1/settings/trust/plan', { body }));

const modes = ['off', 'warn', 'require'] as const;

/** Sets the mode of the policy, and keeps the rest of it. What it would refuse is shown before the question. */
export const setMode: Action = async ([given = ''], options) => {
  requireConsent(options);
  const mode = modes.find((each) => each === given);
  if (mode === undefined) throw new UsageError(`The mode is one of: ${modes.join(', ')}.`);
  const fleet = fleetOf(options);
  const policy = { ...(await policyOf(fleet)), mode };
  if (options.yes !== true) {
    const refused = mode === 'require' ? `${refusedOf(await planOf(fleet, policy))}. What runs continues. ` : '';
    await confirm(`${refused}Set the mode ${mode}?`, options);
  }
  const { mode: set } = await reply(fleet.PUT('/api/v1/settings/trust', { body: policy }));
  await print({ mode: set }, { format: options.output, as: () => ({ mode: set }) });
  return undefined;
};

/** No longer trusts a publisher. */
export const remove: Action = async ([slug = ''], options) => {
  requireConsent(options);
  await confirm(`No longer trust ${oneLine(slug)}? What runs continues.`, options);
  await reply(fleetOf(options).DELETE('/api/v1/settings/publishers/{slug}', { params: { path: { slug } } }));
  return undefined;
};
