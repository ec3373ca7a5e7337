import { createHash } from 'node:crypto';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { Metadata } from './cluster.ts';
import { base64, dockerConfigJson, pullCredentials } from './image.ts';
import { objectName } from './names.ts';
import type { Rendering } from './rendering.ts';
import { secretVariables } from './secrets.ts';

/** What the secret for pulling the image is called. */
export const pullSecretName = (rendering: Rendering): string => `${objectName(rendering)}-pull`;

const MAX_KEY = 253;

/** The key for a variable: its own name, as far as Kubernetes takes it. */
export function secretKey(variable: string): string {
  if (variable.length <= MAX_KEY) return variable;
  const digest = createHash('sha256').update(variable).digest('hex').slice(0, 16);
  return `${variable.slice(0, MAX_KEY - digest.length - 1)}.${digest}`;
}

/**
 * The secrets of a deployment: one with the variables that secrets fill, one for pulling the image. Values stand in
 * `data`: under server-side apply, what is left out of `stringData` stays in the cluster for ever.
 */
export function kubernetesSecrets(rendering: Rendering, metadata: Metadata): ISecret[] {
  const variables = secretVariables(rendering);
  const credentials = pullCredentials(rendering);
  const secret = { apiVersion: 'v1', kind: 'Secret' } as const;
  const opaque = (): ISecret => ({
    ...secret,
    metadata: { ...metadata, name: objectName(rendering) },
    type: 'Opaque',
    data: Object.fromEntries(variables.map(({ env, value }) => [secretKey(env), base64(value)])),
  });
  const pull = (json: string): ISecret => ({
    ...secret,
    metadata: { ...metadata, name: pullSecretName(rendering) },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': base64(json) },
  });
  return [...(variables.length > 0 ? [opaque()] : []), ...(credentials ? [pull(dockerConfigJson(credentials))] : [])];
}
