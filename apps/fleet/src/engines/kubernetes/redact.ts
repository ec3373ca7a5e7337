import type { V1Pod } from '@kubernetes/client-node';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { KubernetesManifest } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { scrubberOf } from '../redact.ts';

/** Cleans what is said of a pod. */
export type CleanOf = (text: string, pod: V1Pod) => string;

/**
 * As `scrubberFor`, for what is said of a pod: of one with former values of secrets nothing is repeated, as nobody knows these any
 * more.
 */
export function scrubberForPods(manifest: KubernetesManifest<'values'>): CleanOf {
  const clean = scrubberFor(manifest);
  const now = manifest.objects.map(templateOf).find((template) => template !== undefined);
  return (text, pod) =>
    versionsOf(pod) === versionsOf(now) ? clean(text) : 'has former values of secrets: nothing is said of it';
}

const versionsOf = (it: V1Pod | IPodTemplateSpec | undefined) => it?.metadata?.annotations?.[KEYS.secretVersions];

/** Takes out of a cluster's words every value that it was given: variables, and what secrets hold. */
export function scrubberFor({ objects }: KubernetesManifest<'values'>): (text: string) => string {
  return scrubberOf(objects.flatMap(valuesIn));
}

const templateOf = (object: Rendered) =>
  object.kind === 'Deployment' || object.kind === 'Job' ? object.spec?.template : undefined;

type Rendered = KubernetesManifest<'values'>['objects'][number];

function valuesIn(object: Rendered): string[] {
  if (object.kind === 'Secret') {
    return Object.values(object.data ?? {}).flatMap((data) => {
      const text = Buffer.from(data, 'base64').toString('utf8');
      return [data, text, ...(object.type === 'kubernetes.io/dockerconfigjson' ? credentialsIn(text) : [])];
    });
  }
  const containers = templateOf(object)?.spec?.containers ?? [];
  return containers.flatMap(({ env }) => (env ?? []).flatMap(({ value }) => value ?? []));
}

/** Whoever pulls. */
function credentialsIn(json: string): string[] {
  const { auths } = JSON.parse(json) as { auths: Record<string, Record<string, string>> };
  return Object.values(auths).flatMap((each) => Object.values(each));
}
