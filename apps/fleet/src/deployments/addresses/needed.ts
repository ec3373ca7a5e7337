import type { Target } from '@svc/contract/fleet';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { NeededPort } from '../../placement/candidates.ts';
import { addressFrom, whyNotReached } from '../../placement/reach.ts';
import { referencesOf, type StoredEnv, withReferences } from '../../render/env.ts';
import { type AddressReference, isAddress } from '../../render/references.ts';
import type { Draft } from '../draft.ts';
import type { Pending } from '../plans/pending.ts';
import type { Refusal } from '../refusals.ts';
import { type Provider, providedPort, readMachines, readProviders, schemeOf } from './provided.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A port to which variables are bound. */
interface FoundPort extends NeededPort {
  readonly scheme: 'http' | 'https';
}

/** The ports of other deployments to which a deployment is bound. */
interface Needed {
  readonly ports: readonly FoundPort[];
  readonly refusals: readonly Refusal[];
}

const addressesIn = (env: StoredEnv) =>
  Object.entries(env).flatMap(([variable, value]) =>
    referencesOf(value).flatMap(([, reference]) => (isAddress(reference) ? [{ variable, reference }] : [])),
  );

/** Reads the ports to which the variables of a draft are bound, with the reasons against it. */
export async function readNeeded(reader: Reader, { name, env }: Draft, pending: Pending): Promise<Needed> {
  const wanted = addressesIn(env);
  if (wanted.length === 0) return { ports: [], refusals: [] };
  const names = [...new Set(wanted.map(({ reference }) => reference.deployment))].filter((each) => each !== name);
  const planned = pending.filter((each) => names.includes(each.name));
  const stored = names.filter((each) => !planned.some((provider) => provider.name === each));
  const providers: Provider[] = [...planned, ...(await readProviders(reader, stored))];
  const machines = await readMachines(
    reader,
    providers.map(({ target }) => target),
  );
  const ports = new Map<string, FoundPort>();
  const refusals: Refusal[] = [];
  for (const { variable, reference } of wanted) {
    const { deployment, port } = reference;
    const provider = providers.find((each) => each.name === deployment);
    const provided =
      provider && !provider.deleting ? providedPort(provider, port, machines) : whyMissing(reference, provider, name);
    if (typeof provided === 'string' || !provider) {
      refusals.push({ code: 'invalid_env', path: `env.${variable}`, message: `${provided}` });
    } else {
      ports.set(`${deployment} ${port}`, { deployment, port, provided, scheme: schemeOf(provider, port) });
    }
  }
  return { ports: [...ports.values()], refusals };
}

function whyMissing({ deployment }: AddressReference, provider: Provider | undefined, name: string): string {
  if (deployment === name) return 'names the deployment itself, whose address is known only after its start';
  return `names the deployment ${deployment}, which ${provider ? 'is being deleted' : 'does not exist'}`;
}

interface Resolved {
  readonly env: StoredEnv;
  readonly refusals: readonly Refusal[];
}

/**
 * The environment of a draft with the addresses at which its target reaches the ports. A change that keeps the instances
 * keeps their addresses.
 */
export async function resolveAddresses(
  reader: Reader,
  { env, replacesInstances, desiredState }: Draft,
  { ports, target }: { readonly ports: readonly FoundPort[]; readonly target: Target | null },
): Promise<Resolved> {
  if (ports.length === 0 || target === null || desiredState === 'stopped') return { env, refusals: [] };
  const machine = (await readMachines(reader, [target])).get(target.id);
  const from = { ...target, network_types: machine?.network_types ?? [] };
  const refusals: Refusal[] = [];
  const resolved = withReferences(env, (reference, variable) => {
    if (!isAddress(reference) || (reference.at !== undefined && !replacesInstances)) return reference;
    const found = ports.find(({ deployment, port }) => deployment === reference.deployment && port === reference.port);
    if (!found) return reference; // it is refused already
    const reached = addressFrom(found.provided, from);
    if (reached) return { ...reference, at: { ...reached, scheme: found.scheme } };
    refusals.push({
      code: 'invalid_env',
      path: `env.${variable}`,
      message: `has the address of another deployment: ${target.kind} ${machine?.name} ${whyNotReached(found, from)}`,
    });
    return reference;
  });
  return { env: resolved, refusals };
}
