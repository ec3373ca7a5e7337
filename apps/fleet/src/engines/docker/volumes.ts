import type { VolumeBody } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import { Permanent, Transient, unlessGone } from '../errors.ts';
import type { DockerClient } from './client.ts';
import { volume } from './schemas.ts';

type Labels = Readonly<Record<string, string>>;

/** Labels of a volume; undefined where there is none of that name. */
async function labelsOf(client: DockerClient, name: string): Promise<Labels | undefined> {
  const read = await unlessGone(client.read({ path: `/volumes/${encodeURIComponent(name)}` }, volume));
  return read?.body.Labels;
}

const isManaged = (labels: Labels) => labels[KEYS.managedBy] === 'fleet' && labels[KEYS.storage] !== undefined;

/**
 * Sees to it that a volume is there. One that was there before is not made anew: it would be empty.
 * @returns what was done @throws Permanent for one that is lost
 */
export async function provideVolume(client: DockerClient, body: VolumeBody, wasThere: boolean): Promise<string[]> {
  const labels = await labelsOf(client, body.Name);
  if (labels && isManaged(labels) && labels[KEYS.storage] === body.Labels[KEYS.storage]) return [];
  if (labels) {
    throw new Transient('NameConflict', `A volume that is not the fleet's is called ${body.Name}; it was left alone.`);
  }
  if (wasThere)
    throw new Permanent('VolumeLost', `The volume ${body.Name} is gone from its machine, with what was in it.`);
  await client.ask({ method: 'POST', path: '/volumes/create', body });
  return [`created the volume ${body.Name}`];
}

/**
 * Removes a volume of the fleet, and what is in it. @returns what was done: nothing where there is none of ours
 * @throws Transient while something uses it
 */
export async function removeVolume(client: DockerClient, name: string): Promise<string[]> {
  const labels = await labelsOf(client, name);
  if (!labels || !isManaged(labels)) return [];
  const path = `/volumes/${encodeURIComponent(name)}`;
  const { status } = await client.ask({ method: 'DELETE', path, accept: [404, 409] });
  if (status === 409) throw new Transient('EngineError', `The volume ${name} is still in use.`);
  return [`removed the volume ${name}`];
}
