import { createHash } from 'node:crypto';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IToleration } from 'kubernetes-models/v1/Toleration';
import { gpuCountOf } from '../placement/requirements.ts';
import { byteAmount, cpuAmount } from '../quantities.ts';
import { base64, dockerConfigJson, imageReference, pullCredentials } from './image.ts';
import { labelsOf, objectName, startsAnewWith, volumeName } from './labels.ts';
import { isJob, mountsOf, type Protocol, portsOf, type Rendering, said, volumesOf } from './rendering.ts';
import { secretVariables } from './secrets.ts';

/** What of a cluster shows in its objects. */
export interface Cluster {
  readonly namespace: string;
  readonly gpu_resource_name: string;
  readonly default_storage_class: string | null;
}

/** What every object of a deployment has in its metadata, beside its own name. */
export interface Metadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What the secret for pulling the image is called. */
const pullSecretName = (rendering: Rendering): string => `${objectName(rendering)}-pull`;

const MAX_KEY = 253;

/** The key for a variable: its own name, as far as Kubernetes takes it. */
function secretKey(variable: string): string {
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

/** One container, called alike in every pod of ours. */
const CONTAINER = 'main';
/** Any group would do: volumes belong to it, so that images that don't run as root can write to them. */
const VOLUME_GROUP = 2000;

/** What a port is called, at most 15 characters: one number may be a port of TCP and one of UDP. */
export const portName = ({ containerPort, protocol }: { containerPort: number; protocol: Protocol }): string =>
  `${protocol.toLowerCase()}-${containerPort}`;

/** The pod of a deployment. It knows no generation and no number of replicas: a change here starts every pod anew. */
export const podTemplate = (rendering: Rendering, gpuResource: string): IPodTemplateSpec => ({
  metadata: { labels: labelsOf(rendering), ...said({ annotations: startsAnewWith(rendering) }) },
  spec: podSpec(rendering, gpuResource),
});

function podSpec(rendering: Rendering, gpuResource: string): IPodSpec {
  const { spec } = rendering;
  const volumes = volumesOf(rendering);
  return {
    containers: [container(rendering, gpuResource)],
    restartPolicy: isJob(rendering) ? 'Never' : 'Always',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      seccompProfile: { type: 'RuntimeDefault' },
      // Once, while the volume is new: later it would undo modes that programs insist on, such as PostgreSQL's.
      ...(volumes.length > 0 && { fsGroup: VOLUME_GROUP, fsGroupChangePolicy: 'OnRootMismatch' }),
    },
    ...said({
      imagePullSecrets: spec.registry_credentials === null ? [] : [{ name: pullSecretName(rendering) }],
      nodeSelector: spec.node_selector,
      tolerations: spec.tolerations.map((toleration) => said(toleration) as IToleration),
      volumes: volumes.map((volume) => ({
        name: volumeName(volume),
        persistentVolumeClaim: { claimName: volumeName(volume), ...readOnly(volume) },
      })),
    }),
  };
}

const readOnly = ({ access_mode }: { readonly access_mode: string }): { readOnly?: true } =>
  access_mode === 'ReadOnlyMany' ? { readOnly: true } : {};

function container(rendering: Rendering, gpuResource: string): IContainer {
  const { spec } = rendering;
  return {
    name: CONTAINER,
    image: imageReference(spec),
    imagePullPolicy: spec.image_tag === 'latest' ? 'Always' : 'IfNotPresent',
    ...said({
      args: spec.command.map(literal),
      env: variables(rendering),
      ports: portsOf(spec).map((port) => ({ name: portName(port), ...port })),
      volumeMounts: mountsOf(rendering).map(({ volume, mountPath }) => ({
        name: volumeName(volume),
        mountPath,
        ...readOnly(volume),
      })),
      resources: resources(rendering, gpuResource),
    }),
    securityContext: { allowPrivilegeEscalation: false },
  };
}

const variables = (rendering: Rendering): NonNullable<IContainer['env']> => [
  ...rendering.env.map(({ name, value }) => ({ name, value: literal(value) })),
  ...secretVariables(rendering).map(({ env }) => ({
    name: env,
    valueFrom: { secretKeyRef: { name: objectName(rendering), key: secretKey(env) } },
  })),
];

/** Text that means the same on every engine: Kubernetes alone would put variables in the place of `$(NAME)`. */
const literal = (text: string): string => text.replaceAll(/\$(?=[$(])/g, '$$$$');

/** No limit of CPU: what nobody uses is free to take. A limit of memory: what is over it could take others down. */
function resources({ spec }: Rendering, gpuResource: string): IResourceRequirements {
  const memory = byteAmount(spec.memory_request);
  const count = gpuCountOf(spec);
  const gpus = count > 0 ? { [gpuResource]: count } : {};
  return said({
    requests: said({ cpu: cpuAmount(spec.cpu_request), memory }),
    limits: { ...said({ memory }), ...gpus },
  });
}
