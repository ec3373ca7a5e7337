import { createHash } from 'node:crypto';
import { workloadDefaults } from '@svc/contract/fleet';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IToleration } from 'kubernetes-models/v1/Toleration';
import { z } from 'zod';
import { gpuCountOf } from '../placement/candidates.ts';
import { byteAmount, cpuAmount, formatBytes } from '../placement/quantities.ts';
import { programVariables, SHM_PATH, shmSizeOf } from './container-options.ts';
import { CONTAINERS_ARE_LIMITED, PODS_ARE_SPREAD } from './defaults.ts';
import { base64, dockerConfigJson, imageReference, pullCredentials, pullPolicyOf } from './image.ts';
import { labelsOf, objectName, restartTriggers, selectorOf, volumeName } from './labels.ts';
import { networkLabel, podNames } from './networks/isolation.ts';
import { dataOfFiles, mountsOfFiles, volumesOfFiles } from './places/files.ts';
import { temporaryMounts, temporaryVolumes } from './places/temporary.ts';
import { podLabels, receivesToken, settingsOf } from './pod-settings.ts';
import { probesOf } from './probes.ts';
import { isJob, mountsOf, omitEmpty, type Protocol, portsOf, type Rendering, volumesOf } from './rendering.ts';
import { secretVariables } from './secrets.ts';
import { securityContextOf } from './security.ts';

/** The columns of a cluster that determine its objects. */
export const renderedCluster = z.object({
  namespace: z.string(),
  gpu_resource_name: z.string(),
  default_storage_class: z.string().nullable(),
  /** The type of the Services of workloads that require the network type `public`. */
  public_service_type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
  /** Of all objects. Those of pods are in `podSettings` of the rendering. */
  object_labels: z.record(z.string(), z.string()),
  object_annotations: z.record(z.string(), z.string()),
  disruption_budgets: z.enum(['with_unhealthy', 'basic']).nullable(),
  /** Whether the fleet has the permissions for NetworkPolicies, as the last check found. */
  network_policies: z.boolean(),
});

type Optional = 'object_labels' | 'object_annotations' | 'disruption_budgets' | 'network_policies';
type Columns = z.output<typeof renderedCluster>;

/** The settings of a cluster that determine its objects. */
export type Cluster = Readonly<Omit<Columns, Optional> & Partial<Pick<Columns, Optional>>>;

/** The metadata that all objects of a deployment share; each has its own name in addition. */
export interface Metadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The name of the image pull secret. */
const pullSecretName = (rendering: Rendering): string => `${objectName(rendering)}-pull`;

/** The name of the secret with the files. */
const filesSecretName = (rendering: Rendering): string => `${objectName(rendering)}-files`;

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
 * The Kubernetes secrets of a deployment: one with the values of its variables, one for pulling the
 * image, and one with its files. They use `data`, because server-side apply does not remove keys that are missing from
 * `stringData`.
 */
export function kubernetesSecrets(rendering: Rendering, metadata: Metadata): ISecret[] {
  const variables = secretVariables(rendering);
  const credentials = pullCredentials(rendering);
  const files = dataOfFiles(rendering.spec);
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
  return [
    ...(variables.length > 0 ? [opaque()] : []),
    ...(credentials ? [pull(dockerConfigJson(credentials))] : []),
    ...(files ? [{ ...secret, metadata: { ...metadata, name: filesSecretName(rendering) }, ...files }] : []),
  ];
}

/** The container of the program, called alike in every pod of ours. Clusters can add others. */
export const CONTAINER = 'main';
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
export const podTemplate = (rendering: Rendering, cluster: Cluster): IPodTemplateSpec => ({
  metadata: {
    labels: { ...podLabels(rendering), ...labelsOf(rendering), ...networkLabel(rendering) },
    ...omitEmpty({ annotations: { ...settingsOf(rendering).object_annotations, ...restartTriggers(rendering) } }),
  },
  spec: podSpec(rendering, cluster),
});

function podSpec(rendering: Rendering, { gpu_resource_name: gpuResource, namespace }: Cluster): IPodSpec {
  const { spec } = rendering;
  const volumes = volumesOf(rendering);
  const settings = settingsOf(rendering);
  const pullSecrets = [
    ...(spec.registry_credentials === null ? [] : [pullSecretName(rendering)]),
    ...settings.pull_secrets,
  ];
  return {
    containers: [container(rendering, gpuResource)],
    restartPolicy: isJob(rendering) ? 'Never' : 'Always',
    automountServiceAccountToken: receivesToken(spec, settings),
    // A cluster has the default itself, so that pods of earlier versions are not replaced.
    ...(spec.stop_grace_seconds !== workloadDefaults.stop_grace_seconds && {
      terminationGracePeriodSeconds: spec.stop_grace_seconds,
    }),
    enableServiceLinks: false,
    ...podNames(rendering, namespace),
    securityContext: {
      seccompProfile: { type: 'RuntimeDefault' },
      // Ownership is set only while the volume is new. Later it would reset file modes that
      // programs such as PostgreSQL require.
      ...(volumes.length > 0 && { fsGroup: VOLUME_GROUP, fsGroupChangePolicy: 'OnRootMismatch' }),
    },
    ...omitEmpty({
      serviceAccountName: settings.service_account ?? undefined,
      priorityClassName: settings.priority_class ?? undefined,
      imagePullSecrets: pullSecrets.map((name) => ({ name })),
      nodeSelector: spec.node_selector,
      // The contract accepts only the operators and effects of Kubernetes.
      tolerations: spec.tolerations.map((toleration) => omitEmpty(toleration) as IToleration),
      topologySpreadConstraints: spread(rendering),
      volumes: [
        ...volumes.map((volume) => ({
          name: volumeName(volume),
          persistentVolumeClaim: { claimName: volumeName(volume), ...readOnly(volume) },
        })),
        ...sharedMemory(rendering),
        ...temporaryVolumes(spec),
        ...volumesOfFiles(spec, filesSecretName(rendering)),
      ],
    }),
  };
}

/**
 * The preference for different nodes, so that the end of one node ends few replicas. It does not
 * depend on the number of replicas, because a change of the template replaces all pods.
 */
const spread = (rendering: Rendering): NonNullable<IPodSpec['topologySpreadConstraints']> =>
  rendering.defaults < PODS_ARE_SPREAD
    ? []
    : [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: selectorOf(rendering) },
        },
      ];

const readOnly = ({ access_mode }: { readonly access_mode: string }): { readOnly?: true } =>
  access_mode === 'ReadOnlyMany' ? { readOnly: true } : {};

function container(rendering: Rendering, gpuResource: string): IContainer {
  const { spec } = rendering;
  return {
    name: CONTAINER,
    image: imageReference(spec),
    imagePullPolicy: PULL_POLICIES[pullPolicyOf(spec, rendering.pull)],
    ...omitEmpty({
      command: spec.entrypoint.map(literal),
      args: spec.command.map(literal),
      workingDir: spec.working_dir ?? undefined,
      env: variables(rendering),
      ports: portsOf(spec).map((port) => ({ name: portName(port), ...port })),
      volumeMounts: [
        ...mountsOf(rendering).map(({ volume, mountPath, isReadOnly }) => ({
          name: volumeName(volume),
          mountPath,
          ...(isReadOnly && { readOnly: true }),
        })),
        ...sharedMemory(rendering).map(({ name }) => ({ name, mountPath: SHM_PATH })),
        ...temporaryMounts(spec),
        ...mountsOfFiles(spec),
      ],
      resources: resources(rendering, gpuResource),
      ...probesOf(rendering),
    }),
    securityContext: securityContextOf(rendering),
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
 * Without limits of the workload, CPU has none, so that pods can use idle CPU, and that of memory is
 * the request, because excess usage could evict other pods. A limit without a request reserves
 * nothing, so its request is 0: without a request, Kubernetes would use the limit.
 */
function resources({ spec, defaults, defaultLimits }: Rendering, gpuResource: string): IResourceRequirements {
  const cpu = cpuAmount(spec.cpu_request);
  const cpuLimit = cpuAmount(spec.cpu_limit);
  const memory = byteAmount(spec.memory_request);
  const memoryLimit = byteAmount(spec.memory_limit) ?? memory ?? defaultMemory({ defaults, defaultLimits });
  const count = gpuCountOf(spec);
  const gpus = count > 0 ? { [gpuResource]: String(count) } : {};
  const requestOf = (request: string | undefined, limit: string | undefined) =>
    request ?? (limit === undefined ? undefined : '0');
  return omitEmpty({
    requests: omitEmpty({ cpu: requestOf(cpu, cpuLimit), memory: requestOf(memory, memoryLimit) }),
    limits: { ...omitEmpty({ cpu: cpuLimit, memory: memoryLimit }), ...gpus },
  });
}

const defaultMemory = ({ defaults, defaultLimits: { memory_bytes } }: Pick<Rendering, 'defaults' | 'defaultLimits'>) =>
  defaults >= CONTAINERS_ARE_LIMITED && memory_bytes !== null ? formatBytes(BigInt(memory_bytes)) : undefined;
