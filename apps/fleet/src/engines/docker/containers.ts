import { setTimeout } from 'node:timers/promises';
import type { DockerManifest } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import { eachOf } from '../concurrency.ts';
import { EngineFailure, unlessGone } from '../errors.ts';
import type { Running as Base, Ending, Fence } from '../observation.ts';
import type { DockerClient } from './client.ts';
import { type Inspected, inspected, listed } from './schemas.ts';

/** What is to be on a machine. */
export type Wanted = Running | Ending;

/** What is to run. */
export interface Running extends Base {
  readonly manifest: DockerManifest<'values'>;
  /** Start again what has crashed: its wait is over. */
  readonly retry?: boolean;
}

/** A pass under way: what it has done, and what went wrong, by the ordinal of the container. */
export interface Work {
  readonly client: DockerClient;
  readonly wanted: Running;
  readonly fence: Fence;
  readonly actions: string[];
  readonly troubles: Map<number, EngineFailure>;
  readonly volumes: string[];
}

/** A container of the deployment, by its labels. */
export interface Found {
  readonly id: string;
  readonly name: string;
  readonly ordinal: number;
  readonly generation: number;
  /** Digest of the body that it was made from. */
  readonly digest: string;
  readonly details: Inspected;
  /** The machine's clock as it was looked at. */
  readonly at: number;
}

/** Seconds beyond which nobody's wish to end in peace is heard. */
const LONGEST_STOP = 120;

const LOOKS = 5;

/** The containers of a deployment. One that lacks a label of ours is not ours, and not among them. */
export async function containersOf(client: DockerClient, deploymentId: string, looks = LOOKS): Promise<Found[]> {
  try {
    return await lookAtAll(client, deploymentId);
  } catch (error) {
    const status = error instanceof EngineFailure ? (error.answer?.status ?? 0) : 0;
    if (status < 500 || looks === 1) throw error;
    // Podman fails where one of them is removed just now.
    await setTimeout(client.timing.again);
    return containersOf(client, deploymentId, looks - 1);
  }
}

async function lookAtAll(client: DockerClient, deploymentId: string): Promise<Found[]> {
  const label = [`${KEYS.deployment}=${deploymentId}`, `${KEYS.managedBy}=fleet`];
  const query = { all: 'true', filters: JSON.stringify({ label }) };
  const { body } = await client.read({ path: '/containers/json', query }, listed);
  const mine = body.filter(({ Labels }) => ownershipOf(Labels, deploymentId) !== undefined);
  const found = await eachOf(mine, ({ Id }) => inspect(client, Id, deploymentId));
  return found.filter((container) => container !== undefined).sort((a, b) => a.ordinal - b.ordinal);
}

async function inspect(client: DockerClient, id: string, deploymentId: string): Promise<Found | undefined> {
  const read = await unlessGone(client.read({ path: `/containers/${id}/json` }, inspected));
  if (!read) return undefined;
  const { body: details, at } = read;
  const ownership = ownershipOf(details.Config.Labels, deploymentId);
  return ownership && { id: details.Id, name: details.Name.replace(/^\//, ''), ...ownership, details, at };
}

const NUMBER = /^\d{1,15}$/;

/** What the labels of ours say; undefined for what only looks like it. */
function ownershipOf(labels: Readonly<Record<string, string>>, deploymentId: string) {
  const { [KEYS.ordinal]: ordinal = '', [KEYS.generation]: generation = '', [KEYS.body]: digest = '' } = labels;
  const isOurs = labels[KEYS.managedBy] === 'fleet' && labels[KEYS.deployment] === deploymentId && digest !== '';
  if (!isOurs || !NUMBER.test(ordinal) || !NUMBER.test(generation)) return undefined;
  return { ordinal: Number(ordinal), generation: Number(generation), digest };
}

/** Ends a container in peace, within the time that it was given, and removes it with what only it has. */
export const remove = (client: DockerClient, found: Found): Promise<void> =>
  removeWithin(client, found, Math.min(found.details.Config.StopTimeout ?? 10, LONGEST_STOP));

/** Ends a container at once, and removes it: it should not run at all. */
export const discard = (client: DockerClient, found: Found): Promise<void> => removeWithin(client, found, 0);

async function removeWithin(client: DockerClient, { id, details }: Found, seconds: number): Promise<void> {
  if (details.State.Running) {
    await client.ask({
      method: 'POST',
      path: `/containers/${id}/stop`,
      query: { t: String(seconds) },
      accept: [304, 404],
      timeoutMs: seconds * 1000 + client.timing.change,
    });
  }
  const query = { force: 'true', v: 'true' };
  // 409: somebody else removes it just now.
  await client.ask({ method: 'DELETE', path: `/containers/${id}`, query, accept: [404, 409] });
}
