import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { DeploymentRow } from '../rows.ts';

/** A tag of an image that a host uses. */
export interface ImageTag {
  readonly host_id: string;
  /** '': Docker Hub. */
  readonly registry_url: string;
  readonly image_name: string;
  readonly image_tag: string;
}

/**
 * Requests a check which image the tag of a deployment names now.
 * @throws 409 for a deployment whose tag cannot be checked
 */
export async function requestImageCheck(transaction: Prisma.TransactionClient, row: DeploymentRow): Promise<ImageTag> {
  const { host_id, image_source } = row;
  const why = whyNotChecked(row);
  if (host_id === null || why !== undefined) {
    throw new Problem('not_supported', `The image of the deployment ${row.name} was not checked, because ${why}.`);
  }
  const { registry_url, image_name, image_tag } = image_source;
  const tag = { host_id, registry_url: registry_url ?? '', image_name, image_tag };
  const requested = { requested: true, due_at: new Date(0) };
  await transaction.imageCheck.upsert({
    where: { host_id_registry_url_image_name_image_tag: tag },
    create: { ...tag, ...requested },
    update: requested,
  });
  return tag;
}

function whyNotChecked({ deleting, host_id, cluster_id, desired_state, pull, image_source }: DeploymentRow) {
  if (deleting) return 'it is being deleted';
  if (image_source.image_digest !== null)
    return 'its workload selects the image by a digest, which never names another one';
  if (cluster_id !== null) return 'the API of a cluster does not tell which image a tag names in its registry';
  if (host_id === null || desired_state === 'stopped') return 'it is stopped';
  return pull === 'never' ? 'it never pulls its image' : undefined;
}
