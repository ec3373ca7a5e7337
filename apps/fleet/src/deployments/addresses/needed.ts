import { HTTP_PORTS } from '@svc/contract';
import type { Target } from '@svc/contract/fleet';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { NeededPort } from '../../placement/candidates.ts';
import { addressFrom, whyNotReached } from '../../placement/reach.ts';
import type { HostPort } from '../../render/allocation.ts';
import { referencesOf, resolveEnv, type StoredEnv, withReferences } from '../../render/env.ts';
import { type AddressReference, isAddress } from '../../render/references.ts';
import type { Draft } from '../draft.ts';
import type { Pending } from '../plans/pending.ts';
import type { Refusal } from '../refusals.ts';
import {
  ownAddress,
  type Provider,
  providedPort,
  readMachines,
  readProviders,
  schemeOf,
  seenFrom,
} from './provided.ts';

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

/** Reads the ports of other deployments to which the variables of a draft are bound, with the reasons against it. */
export async function readNeeded(reader: Reader, draft: Draft, pending: Pending): Promise<Needed> {
  const { name, env, defaultsVersion } = draft;
  const all = addressesIn(env);
  const refusals = all
    .filter(({ reference }) => reference.deployment === name)
    .flatMap((own) => missingPort(draft, own));
  const wanted = all.filter(({ reference }) => reference.deployment !== name);
  if (wanted.length === 0) return { ports: [], refusals };
  const names = [...new Set(wanted.map(({ reference }) => reference.deployment))];
  const planned = pending.filter((each) => names.includes(each.name));
  const stored = names.filter((each) => !planned.some((provider) => provider.name === each));
  const providers = [...planned, ...(await readProviders(reader, stored))].map((each) =>
    seenFrom(each, defaultsVersion),
  );
  const machines = await readMachines(
    reader,
    providers.map(({ target }) => target),
  );
  const ports = new Map<string, FoundPort>();
  for (const { variable, reference } of wanted) {
    const { deployment, port } = reference;
    const provider = providers.find((each) => each.name === deployment);
    // The address of a port is needed when the deployment starts.
    if (draft.desiredState === 'stopped' && provider?.deleting === false && provider.ports.includes(port)) continue;
    const provided =
      provider && !provider.deleting ? providedPort(provider, port, machines) : whyMissing(reference, provider);
    if (typeof provided === 'string' || !provider) {
      refusals.push({ code: 'invalid_env', path: `env.${variable}`, message: `${provided}` });
    } else {
      ports.set(`${deployment} ${port}`, { deployment, port, provided, scheme: schemeOf(provider, port) });
    }
  }
  return { ports: [...ports.values()], refusals };
}

/** A refusal of the address of a port that a deployment does not have itself. */
function missingPort(
  { workload: { spec } }: Draft,
  { variable, reference: { port } }: ReturnType<typeof addressesIn>[number],
): Refusal[] {
  const declared = spec.ports.map(({ containerPort }) => containerPort);
  if (declared.includes(port)) return [];
  const has = declared.length > 0 ? `has the ports ${declared.join(', ')}` : 'has no ports';
  const message = `names the port ${port} of the deployment itself, which ${has}`;
  return [{ code: 'invalid_env', path: `env.${variable}`, message }];
}

function whyMissing({ deployment }: AddressReference, provider: Provider | undefined): string {
  return `names the deployment ${deployment}, which ${provider ? 'is being deleted' : 'does not exist'}`;
}

interface Resolved {
  readonly env: StoredEnv;
  readonly refusals: readonly Refusal[];
}

/** What the addresses of a draft are resolved with. */
interface Resolving {
  readonly ports: readonly FoundPort[];
  readonly target: Target | null;
  /** The ports of its own first instance that its host publishes. */
  readonly published: readonly HostPort[];
}

/**
 * The environment of a draft with the addresses at which its target reaches the ports, and with its own addresses. A change that
 * keeps the instances keeps their addresses.
 */
export async function resolveAddresses(
  reader: Reader,
  { id, name, env, workload: { spec }, replacesInstances, desiredState }: Draft,
  { ports, target, published }: Resolving,
): Promise<Resolved> {
  const hasOwn = addressesIn(env).some(({ reference }) => reference.deployment === name);
  if ((ports.length === 0 && !hasOwn) || target === null || desiredState === 'stopped') return { env, refusals: [] };
  const machines = await readMachines(reader, [target]);
  const machine = machines.get(target.id);
  const webPorts = resolveEnv(spec, env).env.find((variable) => variable.name === HTTP_PORTS)?.value ?? '';
  const declared = spec.ports.map(({ containerPort }) => containerPort);
  const own: Provider = { id, name, deleting: false, ports: declared, webPorts, target, published };
  const from = { ...target, network_types: machine?.network_types ?? [] };
  const refusals: Refusal[] = [];
  const resolved = withReferences(env, (reference, variable) => {
    if (!isAddress(reference) || (reference.at !== undefined && !replacesInstances)) return reference;
    if (reference.deployment === name) {
      const at = ownAddress(own, reference.port, machines);
      return at ? { ...reference, at: { ...at, scheme: schemeOf(own, reference.port) } } : reference;
    }
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
