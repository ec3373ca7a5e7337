import { createHash } from 'node:crypto';
import { workloadDefaults } from '@svc/contract/fleet';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IToleration } from 'kubernetes-models/v1/Toleration';
import { gpuCountOf } from '../placement/candidates.ts';
import { byteAmount, cpuAmount, formatBytes } from '../placement/quantities.ts';
import { CAPABILITIES } from './capabilities.ts';
import {
  CHECK_FAILURES,
  CHECK_PERIOD,
  CHECK_TIMEOUT,
  healthCheckOf,
  programVariables,
  SHM_PATH,
  shmSizeOf,
} from './container-options.ts';
import { CONTAINERS_ARE_LIMITED } from './defaults.ts';
import { base64, dockerConfigJson, imageReference, pullCredentials, pullPolicyOf } from './image.ts';
import { labelsOf, objectName, restartTriggers, volumeName } from './labels.ts';
import { isJob, mountsOf, omitEmpty, type Protocol, portsOf, type Rendering, volumesOf } from './rendering.ts';
import { secretVariables } from './secrets.ts';

/** The settings of a cluster that determine its objects. */
export interface Cluster {
  readonly namespace: string;
  readonly gpu_resource_name: string;
  readonly default_storage_class: string | null;
  /** The type of the Services of workloads that require the network type `public`. */
  readonly public_service_type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
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

/**
 * The key of a variable in the secret: its name, shortened with a digest if it is too long for
 * Kubernetes.
 */
function secretKey(variable: string): string {
  if (variable.length <= MAX_KEY) return variable;
  const digest = createHash('sha256').update(variable).digest('hex').slice(0, 16);
  return `${variable.slice(0, MAX_KEY - digest.length - 1)}.${digest}`;
}

/**
 * The Kubernetes secrets of a deployment: one with the values of its variables, and one for pulling
 * the image. They use `data`, because server-side apply does not remove keys that are missing from
 * `stringData`.
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
/**
 * The group that owns volumes, so that images that do not run as root can write to them. The number
 * is arbitrary.
 */
const VOLUME_GROUP = 2000;

/**
 * The name of a port, at most 15 characters. It contains the protocol, because TCP and UDP can use
 * the same port number.
 */
export const portName = ({ containerPort, protocol }: { containerPort: number; protocol: Protocol }): string =>
  `${protocol.toLowerCase()}-${containerPort}`;

/**
 * The pod template of a deployment. It contains neither generation nor replicas, because a change
 * of it replaces all pods.
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
    // A cluster has the default itself, so that pods of earlier versions are not replaced.
    ...(spec.stop_grace_seconds !== workloadDefaults.stop_grace_seconds && {
      terminationGracePeriodSeconds: spec.stop_grace_seconds,
    }),
    enableServiceLinks: false,
    securityContext: {
      seccompProfile: { type: 'RuntimeDefault' },
      // Ownership is set only while the volume is new. Later it would reset file modes that
      // programs such as PostgreSQL require.
      ...(volumes.length > 0 && { fsGroup: VOLUME_GROUP, fsGroupChangePolicy: 'OnRootMismatch' }),
    },
    ...omitEmpty({
      imagePullSecrets: spec.registry_credentials === null ? [] : [{ name: pullSecretName(rendering) }],
      nodeSelector: spec.node_selector,
      // The contract accepts only the operators and effects of Kubernetes.
      tolerations: spec.tolerations.map((toleration) => omitEmpty(toleration) as IToleration),
      volumes: [
        ...volumes.map((volume) => ({
          name: volumeName(volume),
          persistentVolumeClaim: { claimName: volumeName(volume), ...readOnly(volume) },
        })),
        ...sharedMemory(rendering),
      ],
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
    imagePullPolicy: PULL_POLICIES[pullPolicyOf(spec, rendering.pull)],
    ...omitEmpty({
      args: spec.command.map(literal),
      env: variables(rendering),
      ports: portsOf(spec).map((port) => ({ name: portName(port), ...port })),
      volumeMounts: [
        ...mountsOf(rendering).map(({ volume, mountPath }) => ({
          name: volumeName(volume),
          mountPath,
          ...readOnly(volume),
        })),
        ...sharedMemory(rendering).map(({ name }) => ({ name, mountPath: SHM_PATH })),
      ],
      resources: resources(rendering, gpuResource),
      readinessProbe: readinessProbe(rendering),
    }),
    securityContext: {
      allowPrivilegeEscalation: false,
      ...(rendering.defaults >= CONTAINERS_ARE_LIMITED && { capabilities: { drop: ['ALL'], add: [...CAPABILITIES] } }),
    },
  };
}

/** The kubelet applies the policy at each start of the container. */
const PULL_POLICIES = { always: 'Always', if_possible: 'Always', missing: 'IfNotPresent', never: 'Never' } as const;

/**
 * The volume for `/dev/shm`, which otherwise has 64 MiB. Its content counts towards the memory
 * limit of the container.
 */
function sharedMemory(rendering: Rendering) {
  const size = shmSizeOf(rendering);
  if (size === undefined) return [];
  return [{ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: formatBytes(BigInt(size)) } }];
}

/**
 * The health check as a readiness probe. There is no liveness probe: a busy program would be
 * restarted and lose its work, which does not happen on hosts either.
 */
function readinessProbe(rendering: Rendering): IProbe | undefined {
  const check = healthCheckOf(rendering);
  if (check === undefined) return undefined;
  const timing = { periodSeconds: CHECK_PERIOD, timeoutSeconds: CHECK_TIMEOUT, failureThreshold: CHECK_FAILURES };
  switch (check.kind) {
    case 'exec':
      return { exec: { command: ['/bin/sh', '-c', check.command] }, ...timing };
    case 'tcp':
      return { tcpSocket: { port: check.port }, ...timing };
    case 'http':
      return { httpGet: { path: check.path, port: check.port }, ...timing };
  }
}

const variables = (rendering: Rendering): NonNullable<IContainer['env']> => [
  ...programVariables(rendering).map(({ name, value }) => ({ name, value: literal(value) })),
  ...secretVariables(rendering).map(({ env }) => ({
    name: env,
    valueFrom: { secretKeyRef: { name: objectName(rendering), key: secretKey(env) } },
  })),
];

/** Escapes `$(NAME)`, which only Kubernetes would replace with the value of a variable. */
const literal = (text: string): string => text.replaceAll(/\$(?=[$(])/g, '$$$$');

/**
 * CPU has no limit, so that pods can use idle CPU. Memory has one, because excess usage could evict
 * other pods. A default limit reserves nothing, so its request is 0: without a request, Kubernetes
 * would use the limit.
 */
function resources({ spec, defaults, defaultLimits }: Rendering, gpuResource: string): IResourceRequirements {
  const memory = byteAmount(spec.memory_request);
  const { memory_bytes } = defaultLimits;
  const hasDefault = memory === undefined && defaults >= CONTAINERS_ARE_LIMITED && memory_bytes !== null;
  const count = gpuCountOf(spec);
  const gpus = count > 0 ? { [gpuResource]: count } : {};
  return omitEmpty({
    requests: omitEmpty({ cpu: cpuAmount(spec.cpu_request), memory: hasDefault ? '0' : memory }),
    limits: { ...omitEmpty({ memory: hasDefault ? formatBytes(BigInt(memory_bytes)) : memory }), ...gpus },
  });
}
