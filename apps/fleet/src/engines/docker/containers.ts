import { setTimeout } from 'node:timers/promises';
import type { AddressesByType } from '../../placement/addresses.ts';
import type { DockerManifest } from '../../render/docker.ts';
import type { PullPolicy } from '../../render/image.ts';
import { KEYS } from '../../render/labels.ts';
import { mapConcurrently } from '../concurrency.ts';
import { EngineFailure, unlessNotFound } from '../errors.ts';
import type { DesiredRunning as Base, DesiredEnd, Fence, HostImage } from '../observation.ts';
import type { DockerClient } from './client.ts';
import type { FoundNetwork } from './objects/networks.ts';
import { type Inspected, inspected, listed } from './schemas.ts';

/** The desired state of a deployment on a host. */
export type DesiredContainers = RunningContainers | DesiredEnd;

/** The desired state of a deployment that should run. */
export interface RunningContainers extends Base {
  readonly manifest: DockerManifest<'values'>;
  /** The addresses of the host by network type. */
  readonly addresses: AddressesByType;
  /**
   * Milliseconds after which a crashed container is started again. If not set, it is not started.
   */
  readonly retryAfter?: number;
  /**
   * Whether the last pass of this generation has found or created its containers and no others, and
   * they were up.
   */
  readonly areKnown?: boolean;
  readonly pull?: PullPolicy;
  /** Whether the generation requests a pull that has not been done yet. */
  readonly requestsPull?: boolean;
  /** The image that the containers run; undefined if it is not known yet. */
  readonly image?: HostImage | undefined;
  /** The ids of the networks that were created on the host before. */
  readonly networks?: readonly string[];
  /** How outdated containers are replaced; undefined if no rollout is in progress. */
  readonly rollout?: RolloutRules | undefined;
}

/** How a rollout replaces outdated containers. */
export interface RolloutRules {
  /** The number of replicas. A container with a higher ordinal is the extra one. */
  readonly replicas: number;
  /** Whether it restores an earlier generation, so that outdated containers are those of a generation that has failed. */
  readonly isReturn: boolean;
  /** Whether no further container is to be replaced. */
  readonly isHeld: boolean;
  /** Whether the current containers have been ready for the required time. */
  readonly isProven: boolean;
  /** The names of the containers that are no longer among the endpoints, for so long that clients know it. */
  readonly withdrawn: readonly string[];
}

/** A reconciliation in progress: its actions, and its failures by the ordinal of the container. */
export interface ReconcileRun {
  readonly client: DockerClient;
  readonly desired: RunningContainers;
  readonly fence: Fence;
  readonly actions: string[];
  readonly failures: Map<number, EngineFailure>;
  readonly volumes: string[];
  /** What the engine states about the networks, if a container was created or started. */
  readonly networks: FoundNetwork[];
  /** The names of the containers that are to end next, and are no longer among the endpoints. */
  readonly leaving: string[];
  /** The ids of the containers that it has created. */
  readonly created: string[];
  /** The ids of the containers that it has removed. */
  readonly removed: Set<string>;
  /** The image that the containers must run, as far as it is known. */
  image: HostImage | undefined;
  /** The image that the reference of the manifest names, if the reconciliation has looked it up. */
  named?: HostImage | undefined;
}

/** An existing container with the labels of the deployment. */
export interface FoundContainer {
  readonly id: string;
  readonly name: string;
  readonly ordinal: number;
  readonly generation: number;
  /** Digest of the body that the container was created from. */
  readonly digest: string;
  readonly details: Inspected;
  /** The time of the inspection by the clock of the host. */
  readonly at: number;
}

/** Upper bound on a container's stop grace period, in seconds: that of the contract. */
const MAX_STOP_SECONDS = 600;

const LIST_ATTEMPTS = 5;

/** The containers of a deployment. Containers that lack one of the fleet's labels are ignored. */
export const findContainers = (client: DockerClient, deploymentId: string): Promise<FoundContainer[]> =>
  readRepeatedly(client, async () => {
    const owned = await listOwned(client, deploymentId);
    return inspectEach(
      client,
      owned.map(({ Id }) => Id),
      deploymentId,
    );
  });

/** The containers of a deployment with these ids or names that exist. */
export const inspectContainers = (
  client: DockerClient,
  keys: readonly string[],
  deploymentId: string,
): Promise<FoundContainer[]> => readRepeatedly(client, () => inspectEach(client, keys, deploymentId));

async function readRepeatedly<T>(client: DockerClient, read: () => Promise<T>, attempts = LIST_ATTEMPTS): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const status = error instanceof EngineFailure ? (error.response?.status ?? 0) : 0;
    if (status < 500 || attempts === 1) throw error;
    // Podman responds with an error while one of the containers is being removed.
    await setTimeout(client.timing.retry);
    return readRepeatedly(client, read, attempts - 1);
  }
}

/** The containers of a deployment as the engine lists them. */
export async function listOwned(client: DockerClient, deploymentId: string) {
  const label = [`${KEYS.deployment}=${deploymentId}`, `${KEYS.managedBy}=fleet`];
  const query = { all: 'true', filters: JSON.stringify({ label }) };
  const { body } = await client.read({ path: '/containers/json', query }, listed);
  return body.filter(({ Labels }) => ownershipOf(Labels, deploymentId) !== undefined);
}

async function inspectEach(
  client: DockerClient,
  keys: readonly string[],
  deploymentId: string,
): Promise<FoundContainer[]> {
  const found = await mapConcurrently(keys, (key) => inspect(client, key, deploymentId));
  return found.filter((container) => container !== undefined).sort((a, b) => a.ordinal - b.ordinal);
}

async function inspect(client: DockerClient, key: string, deploymentId: string): Promise<FoundContainer | undefined> {
  const read = await unlessNotFound(client.read({ path: `/containers/${key}/json` }, inspected));
  if (!read) return undefined;
  const { body: details, at } = read;
  const ownership = ownershipOf(details.Config.Labels, deploymentId);
  return ownership && { id: details.Id, name: details.Name.replace(/^\//, ''), ...ownership, details, at };
}

const NUMBER = /^\d{1,15}$/;

/** Parses the labels of the fleet; undefined if a label is missing or malformed. */
export function ownershipOf(labels: Readonly<Record<string, string>>, deploymentId: string) {
  const { [KEYS.ordinal]: ordinal = '', [KEYS.generation]: generation = '', [KEYS.body]: digest = '' } = labels;
  const isOwned = labels[KEYS.managedBy] === 'fleet' && labels[KEYS.deployment] === deploymentId && digest !== '';
  if (!isOwned || !NUMBER.test(ordinal) || !NUMBER.test(generation)) return undefined;
  return { ordinal: Number(ordinal), generation: Number(generation), digest };
}

/**
 * Stops a container within its grace period, and removes it with its anonymous volumes. @returns whether it no longer exists, and
 * not only its removal is in progress
 */
export const remove = (client: DockerClient, found: FoundContainer): Promise<boolean> =>
  removeWithin(client, found, Math.min(found.details.Config.StopTimeout ?? 10, MAX_STOP_SECONDS));

/** Stops a container without a grace period, and removes it. */
export const removeNow = (client: DockerClient, found: FoundContainer): Promise<boolean> =>
  removeWithin(client, found, 0);

const REMOVAL_IN_PROGRESS = 409;

async function removeWithin(client: DockerClient, { id, details }: FoundContainer, seconds: number): Promise<boolean> {
  if (details.State.Running) {
    await client.request({
      method: 'POST',
      path: `/containers/${id}/stop`,
      query: { t: String(seconds) },
      accept: [304, 404],
      timeoutMs: seconds * 1000 + client.timing.change,
    });
  }
  const query = { force: 'true', v: 'true' };
  const accept = [404, REMOVAL_IN_PROGRESS];
  const { status } = await client.request({ method: 'DELETE', path: `/containers/${id}`, query, accept });
  return status !== REMOVAL_IN_PROGRESS;
}
