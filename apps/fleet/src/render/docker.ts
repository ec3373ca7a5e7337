import { createHash } from 'node:crypto';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { bytes, milli } from '../placement/quantities.ts';
import { macOf } from '../placement/subnets.ts';
import { addressIn, bindingsOf, gpusOf, type Host, type HostNetwork, portKey } from './allocation.ts';
import {
  CHECK_FAILURES,
  CHECK_PERIOD,
  CHECK_TIMEOUT,
  hasInit,
  healthCheckOf,
  healthScript,
  programVariables,
  shmSizeOf,
  startPeriodOf,
} from './container-options.ts';
import { CONTAINERS_ARE_ISOLATED, CONTAINERS_ARE_LIMITED } from './defaults.ts';
import { imageReference, pullCredentials, registryAuth } from './image.ts';
import {
  bridgeName,
  KEYS,
  labelsOf,
  networkLabels,
  networkName,
  objectName,
  originOf,
  placementLabels,
  restartTriggers,
  volumeLabels,
  volumeName,
} from './labels.ts';
import { temporaryOnHost } from './places/temporary.ts';
import { isJob, mountsOf, portsOf, type Rendering, type Secrecy, volumesOf } from './rendering.ts';
import { secretVariables, withoutValues } from './secrets.ts';
import { capabilitiesOn, reliesOnImage } from './security.ts';
import { assertRenderable } from './spec-problems.ts';

/**
 * Body of `POST /containers/create` of the Docker Engine API 1.41 or later: the members that the
 * fleet uses.
 */
export interface ContainerBody {
  readonly Image: string;
  readonly Cmd?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly WorkingDir?: string;
  /** The ids of the user and the group. */
  readonly User?: string;
  readonly Env: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, Readonly<Record<string, never>>>>;
  /** Seconds between the stop signal and SIGKILL. */
  readonly StopTimeout: number;
  readonly Healthcheck?: Healthcheck;
  readonly HostConfig: HostConfig;
  readonly NetworkingConfig?: { readonly EndpointsConfig: Readonly<Record<string, NetworkEndpoint>> };
}

/** The place of a container in a network. */
interface NetworkEndpoint {
  readonly IPAMConfig: { readonly IPv4Address: string };
  readonly MacAddress: string;
}

/** The durations are in nanoseconds. */
interface Healthcheck {
  readonly Test: readonly string[];
  readonly Interval: number;
  readonly Timeout: number;
  readonly Retries: number;
  readonly StartPeriod: number;
}

interface HostConfig {
  readonly NanoCpus?: number;
  readonly Memory?: number;
  readonly MemoryReservation?: number;
  readonly PidsLimit?: number;
  readonly ShmSize?: number;
  readonly Init?: boolean;
  readonly ReadonlyRootfs?: boolean;
  /** The options of temporary file systems, by path. */
  readonly Tmpfs?: Readonly<Record<string, string>>;
  readonly CapDrop?: readonly string[];
  readonly CapAdd?: readonly string[];
  readonly RestartPolicy: { readonly Name: 'no' | 'on-failure'; readonly MaximumRetryCount: number };
  readonly Mounts: readonly Mount[];
  readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp?: string; readonly HostPort: string }[]>>;
  readonly SecurityOpt: readonly string[];
  readonly LogConfig: { readonly Type: string; readonly Config: Readonly<Record<string, string>> };
  readonly DeviceRequests?: readonly DeviceRequest[];
  readonly NetworkMode?: string;
  /** Entries of the hosts file, as `name:address`. */
  readonly ExtraHosts?: readonly string[];
}

interface Mount {
  readonly Type: 'volume';
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
}

interface DeviceRequest {
  readonly Driver: string;
  readonly DeviceIDs: readonly string[];
  readonly Capabilities?: readonly (readonly string[])[];
}

/** Body of `POST /volumes/create`. */
export interface VolumeBody {
  readonly Name: string;
  readonly Driver: 'local';
  readonly Labels: Readonly<Record<string, string>>;
}

/** An isolated network, for the requests of both engines. */
export interface NetworkBody {
  readonly Name: string;
  readonly Id: string;
  readonly Subnet: string;
  /** The name of its interface on the host. */
  readonly Bridge: string;
  readonly Labels: Readonly<Record<string, string>>;
}

// https://github.com/cncf-tags/container-device-interface: vendor/class=device.
const CDI_DEVICE = /^[A-Za-z][\w.-]*\/[A-Za-z][\w-]*=[A-Za-z0-9][\w.:-]*$/;
const PLAIN_ID = /^[A-Za-z0-9][\w.:-]*$/;
/** The CDI kind that is put before an index or UUID where the engine accepts only CDI devices. */
const CDI_GPU = 'nvidia.com/gpu';

/**
 * The device requests of a container. Docker selects GPUs by capability. Podman supports only CDI
 * devices, from version 5.4. It silently ignores devices that it does not know, so a caller must
 * check after the start that the container has them.
 *
 * @throws Error for an id that cannot be the id of a device: Podman would treat it as a path of the
 * host
 */
function deviceRequests(gpus: readonly string[], { engine }: Pick<Host, 'engine'>): DeviceRequest[] {
  const invalid = gpus.find((id) => !CDI_DEVICE.test(id) && !PLAIN_ID.test(id));
  if (invalid !== undefined) throw new Error(`invalid GPU id "${invalid}"`);
  const isCdi = (id: string): boolean => engine === 'podman' || CDI_DEVICE.test(id);
  const cdiDevices = gpus.filter(isCdi).map((id) => (CDI_DEVICE.test(id) ? id : `${CDI_GPU}=${id}`));
  const otherGpus = gpus.filter((id) => !isCdi(id));
  return [
    ...(cdiDevices.length > 0 ? [{ Driver: 'cdi', DeviceIDs: cdiDevices }] : []),
    ...(otherGpus.length > 0 ? [{ Driver: '', DeviceIDs: otherGpus, Capabilities: [['gpu']] }] : []),
  ];
}

/**
 * The number of restarts of a failing container by the engine. After that, the fleet restarts it
 * with increasing delays.
 */
const RETRIES = 3;
/** The minimum values that Docker accepts. */
const MIN_CPU_MILLIS = 10;
const MIN_MEMORY_BYTES = 6 * 1024 * 1024;

/**
 * The host configuration of a container: limited resources, and access to its volumes and GPUs but
 * to no path of the host.
 */
function hostConfig(rendering: Rendering, host: Host, ordinal: number): HostConfig {
  const devices = deviceRequests(gpusOf(rendering, host, ordinal), host);
  const shmSize = shmSizeOf(rendering);
  const temporary = temporaryOnHost(rendering.spec, host.engine);
  return {
    ...limits(rendering),
    ...(shmSize !== undefined && { ShmSize: shmSize }),
    ...capabilitiesOn(rendering, host.engine),
    ...(hasInit(rendering) && { Init: true }),
    ...(rendering.spec.read_only_root && { ReadonlyRootfs: true }),
    ...(temporary && { Tmpfs: temporary }),
    RestartPolicy: isJob(rendering)
      ? { Name: 'no', MaximumRetryCount: 0 }
      : { Name: 'on-failure', MaximumRetryCount: RETRIES },
    Mounts: mountsOf(rendering).map(({ volume, mountPath, isReadOnly }) => ({
      Type: 'volume',
      Source: volumeName(volume),
      Target: mountPath,
      ReadOnly: isReadOnly,
    })),
    PortBindings: Object.fromEntries(
      bindingsOf(rendering, host, ordinal).map(({ key, hostPort, addresses }) => [
        key,
        addresses.length === 0 ? [{ HostPort: hostPort }] : addresses.map((HostIp) => ({ HostIp, HostPort: hostPort })),
      ]),
    ),
    SecurityOpt: ['no-new-privileges'],
    LogConfig: logs(host),
    ...(devices.length > 0 && { DeviceRequests: devices }),
    ...placeOf(rendering, host),
  };
}

/** The networks of the instances; none for a deployment that was started with earlier defaults. */
const networksOf = ({ defaults }: Pick<Rendering, 'defaults'>, { networks = [] }: Host) =>
  defaults >= CONTAINERS_ARE_ISOLATED ? networks : [];

const bodyOf = (network: HostNetwork): NetworkBody => ({
  Name: networkName(network),
  Id: network.id,
  Subnet: network.subnet,
  Bridge: bridgeName(network),
  Labels: networkLabels(network),
});

/** The network of a container, and the names that it knows. */
function placeOf(rendering: Rendering, host: Host): Pick<HostConfig, 'NetworkMode' | 'ExtraHosts'> {
  const [own] = networksOf(rendering, host);
  if (!own) return {};
  const hosts = own.names.map(({ name, address }) => `${name}:${address}`);
  return { NetworkMode: networkName(own), ...(hosts.length > 0 && { ExtraHosts: hosts }) };
}

/** The addresses of a container in its networks. */
function endpointsIn(rendering: Rendering, host: Host, ordinal: number): Pick<ContainerBody, 'NetworkingConfig'> {
  const endpoints = networksOf(rendering, host).map((network): [string, NetworkEndpoint] => {
    const address = addressIn(rendering, network, ordinal);
    return [networkName(network), { IPAMConfig: { IPv4Address: address }, MacAddress: macOf(address) }];
  });
  return endpoints.length === 0 ? {} : { NetworkingConfig: { EndpointsConfig: Object.fromEntries(endpoints) } };
}

/**
 * Without limits, requests become limits, because nothing else prevents a container from using the
 * resources that others requested. A limit that the workload does not request reserves nothing.
 */
function limits({
  spec,
  defaults,
  defaultLimits,
}: Rendering): Pick<HostConfig, 'NanoCpus' | 'Memory' | 'MemoryReservation' | 'PidsLimit'> {
  const cpu = milli(spec.cpu_limit) || milli(spec.cpu_request);
  const requested = bytes(spec.memory_request);
  const memory = bytes(spec.memory_limit) || requested;
  const { memory_bytes, processes } =
    defaults >= CONTAINERS_ARE_LIMITED ? defaultLimits : { memory_bytes: null, processes: null };
  return {
    ...(cpu > 0 && { NanoCpus: Math.min(Math.max(cpu, MIN_CPU_MILLIS) * 1_000_000, Number.MAX_SAFE_INTEGER) }),
    ...(memory > 0 ? { Memory: leastMemory(memory) } : memory_bytes !== null && { Memory: memory_bytes }),
    ...(requested > 0 && { MemoryReservation: leastMemory(requested) }),
    ...(processes !== null && { PidsLimit: processes }),
  };
}

const leastMemory = (memory: number): number => Math.max(memory, MIN_MEMORY_BYTES);

/**
 * Limits the logs of a container to about 30 MB. Docker and Podman do not limit them by default.
 */
const logs = ({ engine }: Host): HostConfig['LogConfig'] =>
  engine === 'podman'
    ? { Type: 'k8s-file', Config: { 'max-size': '30m' } }
    : { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } };

/** A container, with its name for `POST /containers/create?name=`. */
export interface RenderedContainer {
  readonly name: string;
  readonly ordinal: number;
  readonly body: ContainerBody;
}

/**
 * The manifest of a deployment on a host, in the order of creation: image pull, volumes, networks,
 * containers.
 */
export interface DockerManifest<S extends Secrecy> {
  /**
   * A manifest with placeholders is shown to users, one with values goes to the engine. The type
   * keeps them apart.
   */
  readonly secrecy: S;
  readonly image: string;
  /** Whether the image must state a user other than root. */
  readonly needsUserOfImage?: true;
  /** The header `X-Registry-Auth` of the pull, if the workload has registry credentials. */
  readonly registryAuth?: string;
  readonly volumes: readonly VolumeBody[];
  readonly networks?: readonly NetworkBody[];
  /** What is placed in each container before its first start. Default: nothing. */
  readonly files?: WorkloadSpec['files'];
  readonly containers: readonly RenderedContainer[];
}

/**
 * Renders a deployment as request bodies for the Docker Engine API, which Podman supports as well.
 * With secret values, `Env` contains them in plain text: such a manifest must go to the engine
 * only.
 *
 * @throws Error for a workload that validation refuses before a deployment is stored; with secret
 * values, also if GPUs or ports are not allocated
 */
export function renderDocker<S extends Secrecy>(rendering: Rendering<S>, host: Host): DockerManifest<S> {
  assertRenderable(rendering.spec);
  const credentials = pullCredentials(rendering);
  const networks = networksOf(rendering, host);
  return {
    secrecy: rendering.secrets.secrecy,
    image: imageReference(rendering.spec),
    ...(reliesOnImage(rendering.spec) && { needsUserOfImage: true }),
    ...(credentials && { registryAuth: registryAuth(credentials) }),
    volumes: volumesOf(rendering).map((volume) => ({
      Name: volumeName(volume),
      Driver: 'local',
      Labels: volumeLabels(volume),
    })),
    ...(networks.length > 0 && { networks: networks.map(bodyOf) }),
    ...(rendering.spec.files.length > 0 && { files: rendering.spec.files }),
    containers: rendering.replicas === 0 ? [] : renderContainers(rendering, host),
  };
}

type Shared = 'Image' | 'Cmd' | 'Entrypoint' | 'Env';

/**
 * The members of a body that all replicas share, and that can be large. They are the first members
 * of a body.
 */
const sharedMembers = (rendering: Rendering): Pick<ContainerBody, Shared> => ({
  Image: imageReference(rendering.spec),
  ...(rendering.spec.command.length > 0 && { Cmd: rendering.spec.command }),
  ...(rendering.spec.entrypoint.length > 0 && { Entrypoint: rendering.spec.entrypoint }),
  Env: [
    ...programVariables(rendering).map(({ name, value }) => `${name}=${value}`),
    ...secretVariables(rendering).map(({ env, value }) => `${env}=${value}`),
  ],
});

const NANOSECONDS = 1_000_000_000;
function healthcheck(rendering: Rendering): Pick<ContainerBody, 'Healthcheck'> {
  const check = healthCheckOf(rendering);
  if (check === undefined) return {};
  return {
    Healthcheck: {
      Test: ['CMD-SHELL', healthScript(check)], // Podman splits the arguments of CMD at spaces
      Interval: CHECK_PERIOD * NANOSECONDS,
      Timeout: CHECK_TIMEOUT * NANOSECONDS,
      Retries: CHECK_FAILURES,
      StartPeriod: startPeriodOf(rendering.spec) * NANOSECONDS,
    },
  };
}

/** The other members of a body, without the labels for the digest and the origin. */
const ownMembers = (rendering: Rendering, host: Host, ordinal: number): Omit<ContainerBody, Shared> => ({
  Labels: {
    ...labelsOf(rendering),
    ...placementLabels(rendering),
    ...restartTriggers(rendering),
    [KEYS.ordinal]: String(ordinal),
    ...lossesOf(rendering, host),
  },
  ExposedPorts: Object.fromEntries(portsOf(rendering.spec).map((port) => [portKey(port), {}])),
  StopTimeout: rendering.spec.stop_grace_seconds,
  ...(rendering.spec.run_as !== null && { User: rendering.spec.run_as }),
  ...(rendering.spec.working_dir !== null && { WorkingDir: rendering.spec.working_dir }),
  ...healthcheck(rendering),
  HostConfig: hostConfig(rendering, host, ordinal),
  ...endpointsIn(rendering, host, ordinal),
});

/** A label that changes when a network was lost, because its containers are replaced when it is created again. */
function lossesOf(rendering: Rendering, host: Host): Readonly<Record<string, string>> {
  const losses = networksOf(rendering, host).reduce((sum, network) => sum + network.losses, 0);
  return losses === 0 ? {} : { [KEYS.networkLosses]: String(losses) };
}

/**
 * The containers of all replicas. Each body has a digest of itself among its labels. A container
 * with the same digest is up to date, whatever its generation, and is not replaced. The digest is
 * that of the JSON of the body without the labels for the digest and the origin. It covers the
 * versions of secrets, not their values, because the values could be guessed from it. The shared
 * members are rendered and hashed once.
 */
function renderContainers(rendering: Rendering, host: Host): RenderedContainer[] {
  const shared = sharedMembers(rendering);
  const sharedJson = JSON.stringify(sharedMembers(withoutValues(rendering)));
  const hashOfShared = createHash('sha256').update(`${sharedJson.slice(0, -1)},`);
  return Array.from({ length: rendering.replicas + (host.extra ?? 0) }, (_, ordinal) => {
    const own = ownMembers(rendering, host, ordinal);
    const digest = hashOfShared.copy().update(JSON.stringify(own).slice(1)).digest('hex').slice(0, 32);
    const Labels = { ...own.Labels, ...originOf(rendering), [KEYS.body]: digest };
    return { name: `${objectName(rendering)}-${ordinal}`, ordinal, body: { ...shared, ...own, Labels } };
  });
}
