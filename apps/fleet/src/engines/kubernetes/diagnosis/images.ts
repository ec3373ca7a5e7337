import type { V1Pod } from '@kubernetes/client-node';
import { CONTAINER } from '../../../render/pod.ts';
import { isActive } from '../status/pod-status.ts';

/** The digest of the image that the programs of all pods run, if it is the same one and known. */
export function imageDigestOf(pods: readonly V1Pod[]): string | undefined {
  const statuses = pods.filter(isActive).flatMap(({ status }) => status?.containerStatuses ?? []);
  const images = statuses.filter(({ name }) => name === CONTAINER).map(({ imageID = '' }) => imageID);
  const [digest, ...others] = new Set(images.map((image) => /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1]));
  return others.length === 0 ? digest : undefined;
}

/** The image that the program of a pod runs. */
export const imageOf = ({ spec }: V1Pod): string | undefined =>
  spec?.containers.find(({ name }) => name === CONTAINER)?.image;
