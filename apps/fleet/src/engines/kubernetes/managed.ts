import { z } from 'zod';
import { type ManagedObject, objectText, originIn } from '../managed.ts';
import type { KubernetesClient } from './client.ts';
import { listAllManaged, type ObjectKind, ownedKinds } from './objects.ts';

const spec = z.object({
  replicas: z.int().optional(),
  completions: z.int().optional(),
  accessModes: z.array(z.string()).optional(),
  storageClassName: z.string().optional(),
  resources: z.object({ requests: z.object({ storage: z.string().optional() }).optional() }).optional(),
});

/** All objects in the namespace of the fleet with the labels of the fleet. */
export async function listManaged(client: KubernetesClient): Promise<ManagedObject[]> {
  const kinds = [...ownedKinds(client), 'PersistentVolumeClaim' as const];
  const lists = await Promise.all(kinds.map((kind) => listKind(client, kind)));
  return lists.flat();
}

async function listKind(client: KubernetesClient, kind: ObjectKind): Promise<ManagedObject[]> {
  return (await listAllManaged(client, kind)).flatMap(({ metadata, spec: given }) => {
    const origin = originIn({ ...metadata.annotations, ...metadata.labels });
    if (!origin) return [];
    const { replicas, completions, accessModes, storageClassName, resources } = spec.safeParse(given).data ?? {};
    const object = kind === 'PersistentVolumeClaim' ? (metadata.name ?? '') : `${metadata.name} (${kind})`;
    const volume = {
      size: resources?.requests?.storage ?? '',
      access_mode: accessModes?.[0] ?? '',
      storage_class: storageClassName ?? null,
    };
    const claimed = kind === 'PersistentVolumeClaim' ? { volume } : {};
    const number = replicas ?? completions ?? 0;
    return [{ ...origin, object: objectText(object), containerId: '', replicas: number, ...claimed }];
  });
}
