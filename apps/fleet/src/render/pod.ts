import { createHash } from 'node:crypto';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IToleration } from 'kubernetes-models/v1/Toleration';
import { gpuCountOf } from '../placement/candidates.ts';
import { byteAmount, cpuAmount } from '../quantities.ts';
import { base64, dockerConfigJson, imageReference, pullCredentials } from './image.ts';
import { labelsOf, objectName, restartTriggers, volumeName } from './labels.ts';
import { isJob, mountsOf, omitEmpty, type Protocol, portsOf, type Rendering, volumesOf } from './rendering.ts';
import { secretVariables } from './secrets.ts';

/** The settings of a cluster that determine its objects. */
export interface Cluster {
  readonly namespace: string;
  readonly gpu_resource_name: string;
  readonly default_storage_class: string | null;
}

/** The metadata that all objects of a deployment share; each has its own name in addition. */
export interface Metadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The name of the image pull secret. */
const pullSecretName = (rendering: Rendering): string => `${objectName(rendering)}-pull`;

const MAX_KEY = 253;

/** The key of a variable in the secret: its name, shortened with a digest if it is too long for Kubernetes. */
function secretKey(variable: string): string {
  if (variable.length <= MAX_KEY) return variable;
  const digest = createHash('sha256').update(variable).digest('hex').slice(0, 16);
  return `${variable.slice(0, MAX_KEY - digest.length - 1)}.${digest}`;
}

/**
 * The Kubernetes secrets of a deployment: one with the values of its variables, and one for pulling the image. They use
 * `data`, because server-side apply does not remove keys that are missing from `stringData`.
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
/** The group that owns volumes, so that images that do not run as root can write to them. The number is arbitrary. */
const VOLUME_GROUP = 2000;

/**
 * The name of a port, at most 15 characters. It contains the protocol, because TCP and UDP can use the same port
 * number.
 */
export const portName = ({ containerPort, protocol }: { containerPort: number; protocol: Protocol }): string =>
  `${protocol.toLowerCase()}-${containerPort}`;

/**
 * The pod template of a deployment. It contains neither generation nor replicas, because a change of it replaces all
 * pods.
 */
export const podTemplate = (rendering: Rendering, gpuResource: string): IPodTemplateSpec => ({
  metadata: { labels: labelsOf(rendering), ...omitEmpty({ annotations: restartTriggers(rendering) }) },
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
      // Ownership is set only while the volume is new. Later it would reset file modes that programs such as
      // PostgreSQL require.
      ...(volumes.length > 0 && { fsGroup: VOLUME_GROUP, fsGroupChangePolicy: 'OnRootMismatch' }),
    },
    ...omitEmpty({
      imagePullSecrets: spec.registry_credentials === null ? [] : [{ name: pullSecretName(rendering) }],
      nodeSelector: spec.node_selector,
      // The contract accepts only the operators and effects of Kubernetes.
      tolerations: spec.tolerations.map((toleration) => omitEmpty(toleration) as IToleration),
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
    ...omitEmpty({
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

/** Escapes `$(NAME)`, which only Kubernetes would replace with the value of a variable. */
const literal = (text: string): string => text.replaceAll(/\$(?=[$(])/g, '$$$$');

/** CPU has no limit, so that pods can use idle CPU. Memory has one, because excess usage could evict other pods. */
function resources({ spec }: Rendering, gpuResource: string): IResourceRequirements {
  const memory = byteAmount(spec.memory_request);
  const count = gpuCountOf(spec);
  const gpus = count > 0 ? { [gpuResource]: count } : {};
  return omitEmpty({
    requests: omitEmpty({ cpu: cpuAmount(spec.cpu_request), memory }),
    limits: { ...omitEmpty({ memory }), ...gpus },
  });
}
