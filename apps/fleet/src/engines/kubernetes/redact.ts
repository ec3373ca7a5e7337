import type { V1Pod } from '@kubernetes/client-node';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { KubernetesManifest } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { FILES_TYPE } from '../../render/places/files.ts';
import { redactorOf } from '../redact.ts';

/** Redacts a message about a pod. */
export type PodRedactor = (text: string, pod: V1Pod) => string;

/**
 * As `redactorFor`, for messages about a pod. If the pod has former values of secrets, the whole
 * message is replaced, because these values are no longer known.
 */
export function podRedactorFor(manifest: KubernetesManifest<'values'>): PodRedactor {
  const redact = redactorFor(manifest);
  const now = manifest.objects.map(templateOf).find((template) => template !== undefined);
  return (text, pod) =>
    versionsOf(pod) === versionsOf(now) ? redact(text) : 'has former values of secrets, so its message is not shown';
}

const versionsOf = (object: V1Pod | IPodTemplateSpec | undefined) =>
  object?.metadata?.annotations?.[KEYS.secretVersions];

/** Redacts all values that the cluster received: environment variables and the data of Secrets, except files, which are no secrets. */
export function redactorFor({ objects }: KubernetesManifest<'values'>): (text: string) => string {
  return redactorOf(objects.flatMap(valuesIn));
}

const templateOf = (object: Rendered) =>
  object.kind === 'Deployment' || object.kind === 'Job' ? object.spec?.template : undefined;

type Rendered = KubernetesManifest<'values'>['objects'][number];

function valuesIn(object: Rendered): string[] {
  if (object.kind === 'Secret') {
    if (object.type === FILES_TYPE) return [];
    return Object.values(object.data ?? {}).flatMap((data) => {
      const text = Buffer.from(data, 'base64').toString('utf8');
      return [data, text, ...(object.type === 'kubernetes.io/dockerconfigjson' ? credentialsIn(text) : [])];
    });
  }
  const containers = templateOf(object)?.spec?.containers ?? [];
  return containers.flatMap(({ env }) => (env ?? []).flatMap(({ value }) => value ?? []));
}

/** The registry credentials in a Docker configuration. */
function credentialsIn(json: string): string[] {
  // Written by this service: see the secret for pulling images in render/.
  const { auths } = JSON.parse(json) as { auths: Record<string, Record<string, string>> };
  return Object.values(auths).flatMap((each) => Object.values(each));
}
