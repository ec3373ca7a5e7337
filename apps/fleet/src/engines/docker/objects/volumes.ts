import type { VolumeBody } from '../../../render/docker.ts';
import { KEYS } from '../../../render/labels.ts';
import { Permanent, Transient, unlessNotFound } from '../../errors.ts';
import type { DockerClient } from '../client.ts';
import { volume } from '../schemas.ts';

type Labels = Readonly<Record<string, string>>;

/** The labels of a volume; undefined if no volume has this name. */
async function labelsOf(client: DockerClient, name: string): Promise<Labels | undefined> {
  const read = await unlessNotFound(client.read({ path: `/volumes/${encodeURIComponent(name)}` }, volume));
  return read?.body.Labels;
}

const isManaged = (labels: Labels) => labels[KEYS.managedBy] === 'fleet' && labels[KEYS.storage] !== undefined;

/**
 * Creates a volume if it does not exist. A volume that existed before is not created again, because
 * it would be empty.
 *
 * @returns the actions taken
 * @throws Permanent if the volume is lost, Transient if a volume that the fleet does not manage has
 * its name
 */
export async function ensureVolume(client: DockerClient, body: VolumeBody, existedBefore: boolean): Promise<string[]> {
  const labels = await labelsOf(client, body.Name);
  if (labels && isManaged(labels) && labels[KEYS.storage] === body.Labels[KEYS.storage]) return [];
  if (labels) {
    throw new Transient(
      'NameConflict',
      `A volume named ${body.Name} exists that does not belong to the fleet. It was not changed.`,
    );
  }
  if (existedBefore)
    throw new Permanent('VolumeLost', `The volume ${body.Name} no longer exists on its host. Its data is lost.`);
  await client.request({ method: 'POST', path: '/volumes/create', body });
  return [`created the volume ${body.Name}`];
}

/**
 * Removes a volume of the fleet with its data.
 *
 * @returns the actions taken; none if the fleet manages no volume with this name
 * @throws Transient while the volume is in use
 */
export async function removeVolume(client: DockerClient, name: string): Promise<string[]> {
  const labels = await labelsOf(client, name);
  if (!labels || !isManaged(labels)) return [];
  const path = `/volumes/${encodeURIComponent(name)}`;
  const { status } = await client.request({ method: 'DELETE', path, accept: [404, 409] });
  if (status === 409) throw new Transient('EngineError', `The volume ${name} is still in use.`);
  return [`removed the volume ${name}`];
}
