import { createHash } from 'node:crypto';
import { bytes, milli } from '../quantities.ts';
import { bindingsOf, gpusOf, type Host, portKey } from './allocation.ts';
import { imageReference, pullCredentials, registryAuth } from './image.ts';
import {
  generationOf,
  KEYS,
  labelsOf,
  objectName,
  startsAnewWith,
  volumeLabels,
  volumeName,
  wishesOf,
} from './labels.ts';
import { isJob, mountsOf, portsOf, type Rendering, type Secrecy, volumesOf } from './rendering.ts';
import { secretVariables, withoutValues } from './secrets.ts';
import { demandRenderable } from './spec-problems.ts';

/** Body of `POST /containers/create` of the Docker Engine API, from version 1.41 on: what we use of it. */
export interface ContainerBody {
  readonly Image: string;
  readonly Cmd?: readonly string[];
  readonly Env: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, Readonly<Record<string, never>>>>;
  /** Seconds between the signal to end and the end. */
  readonly StopTimeout: number;
  readonly HostConfig: HostConfig;
}

interface HostConfig {
  readonly NanoCpus?: number;
  readonly Memory?: number;
  readonly MemoryReservation?: number;
  readonly RestartPolicy: { readonly Name: 'no' | 'on-failure'; readonly MaximumRetryCount: number };
  readonly Mounts: readonly Mount[];
  readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp?: string; readonly HostPort: string }[]>>;
  readonly SecurityOpt: readonly string[];
  readonly LogConfig: { readonly Type: string; readonly Config: Readonly<Record<string, string>> };
  readonly DeviceRequests?: readonly DeviceRequest[];
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

// https://github.com/cncf-tags/container-device-interface: vendor/class=device.
const CDI_DEVICE = /^[A-Za-z][\w.-]*\/[A-Za-z][\w-]*=[A-Za-z0-9][\w.:-]*$/;
const PLAIN_ID = /^[A-Za-z0-9][\w.:-]*$/;
/** Whose GPUs a bare index or UUID speaks of where only CDI devices can be named. */
const CDI_GPU = 'nvidia.com/gpu';

/**
 * The devices of a container. Docker finds GPUs by their capability; Podman knows CDI devices only, and those from 5.4 on:
 * what it doesn't know, it leaves out without a word, so look whether they are there after the start.
 *
 * @throws Error for an id that names no device: Podman would take it for a path of the host
 */
function deviceRequests(gpus: readonly string[], { engine }: Pick<Host, 'engine'>): DeviceRequest[] {
  const alien = gpus.find((id) => !CDI_DEVICE.test(id) && !PLAIN_ID.test(id));
  if (alien !== undefined) throw new Error(`the GPU "${alien}" has no id that an engine knows`);
  const isCdi = (id: string): boolean => engine === 'podman' || CDI_DEVICE.test(id);
  const named = gpus.filter(isCdi).map((id) => (CDI_DEVICE.test(id) ? id : `${CDI_GPU}=${id}`));
  const found = gpus.filter((id) => !isCdi(id));
  return [
    ...(named.length > 0 ? [{ Driver: 'cdi', DeviceIDs: named }] : []),
    ...(found.length > 0 ? [{ Driver: '', DeviceIDs: found, Capabilities: [['gpu']] }] : []),
  ];
}

/** How often an engine starts a failing container again; after that the fleet does, and waits longer each time. */
const RETRIES = 3;
/** The least that Docker takes. */
const LEAST_MILLI = 10;
const LEAST_BYTES = 6 * 1024 * 1024;

/** What a container may use of its host: counted out, and nothing of the host's own. */
function hostConfig(rendering: Rendering, host: Host, ordinal: number): HostConfig {
  const devices = deviceRequests(gpusOf(rendering, host, ordinal), host);
  return {
    ...limits(rendering),
    RestartPolicy: isJob(rendering)
      ? { Name: 'no', MaximumRetryCount: 0 }
      : { Name: 'on-failure', MaximumRetryCount: RETRIES },
    Mounts: mountsOf(rendering).map(({ volume, mountPath }) => ({
      Type: 'volume',
      Source: volumeName(volume),
      Target: mountPath,
      ReadOnly: volume.access_mode === 'ReadOnlyMany',
    })),
    PortBindings: Object.fromEntries(
      bindingsOf(rendering, host, ordinal).map(({ key, hostPort, hostIp }) => [
        key,
        [{ ...(hostIp !== undefined && { HostIp: hostIp }), HostPort: hostPort }],
      ]),
    ),
    SecurityOpt: ['no-new-privileges'],
    LogConfig: logs(host),
    ...(devices.length > 0 && { DeviceRequests: devices }),
  };
}

/** What is asked for is what there is: nothing else keeps the containers of a host from each other's share. */
function limits({ spec }: Rendering): Pick<HostConfig, 'NanoCpus' | 'Memory' | 'MemoryReservation'> {
  const cpu = milli(spec.cpu_request);
  const memory = bytes(spec.memory_request);
  const Memory = Math.max(memory, LEAST_BYTES);
  return {
    ...(cpu > 0 && { NanoCpus: Math.min(Math.max(cpu, LEAST_MILLI) * 1_000_000, Number.MAX_SAFE_INTEGER) }),
    ...(memory > 0 && { Memory, MemoryReservation: Memory }),
  };
}

/** At most some 30 MB a container: engines of single machines limit nothing by themselves. */
const logs = ({ engine }: Host): HostConfig['LogConfig'] =>
  engine === 'podman'
    ? { Type: 'k8s-file', Config: { 'max-size': '30m' } }
    : { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } };

/** A container, and what it is called in `POST /containers/create?name=`. */
export interface RenderedContainer {
  readonly name: string;
  readonly ordinal: number;
  readonly body: ContainerBody;
}

/** A deployment on a single machine, in the order in which it is made: pull, volumes, containers. */
export interface DockerManifest<S extends Secrecy> {
  /** Placeholders are for people, values for the engine: one can't be given where the other is asked for. */
  readonly secrecy: S;
  readonly image: string;
  /** The header `X-Registry-Auth` of the pull, where the registry asks who pulls. */
  readonly registryAuth?: string;
  readonly volumes: readonly VolumeBody[];
  readonly containers: readonly RenderedContainer[];
}

/**
 * A deployment as bodies for the Docker Engine API, which Podman speaks, too. With values of secrets their text is in
 * `Env` in clear: it goes to the engine and nowhere else.
 *
 * @throws Error for what is refused before a deployment is stored; with values, for what is not allocated yet
 */
export function renderDocker<S extends Secrecy>(rendering: Rendering<S>, host: Host): DockerManifest<S> {
  demandRenderable(rendering.spec);
  const credentials = pullCredentials(rendering);
  return {
    secrecy: rendering.secrets.secrecy,
    image: imageReference(rendering.spec),
    ...(credentials && { registryAuth: registryAuth(credentials) }),
    volumes: volumesOf(rendering).map((volume) => ({
      Name: volumeName(volume),
      Driver: 'local',
      Labels: volumeLabels(volume),
    })),
    containers: Array.from({ length: rendering.replicas }, (_, ordinal) => ({
      name: `${objectName(rendering)}-${ordinal}`,
      ordinal,
      body: labelled(rendering, host, ordinal),
    })),
  };
}

/**
 * The body with a digest of itself among its labels: a container with the same one runs what it should and is left
 * alone, whatever its generation. Values of secrets are not in the digest, from which they could be guessed; their
 * versions are.
 */
function labelled(rendering: Rendering, host: Host, ordinal: number): ContainerBody {
  const shown = containerBody(withoutValues(rendering), host, ordinal);
  const digest = createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 32);
  const body = containerBody(rendering, host, ordinal);
  return { ...body, Labels: { ...body.Labels, ...generationOf(rendering), [KEYS.body]: digest } };
}

/** Seconds, as Kubernetes gives them. */
const STOP_TIMEOUT = 30;

function containerBody(rendering: Rendering, host: Host, ordinal: number): ContainerBody {
  const { spec } = rendering;
  const variables = [
    ...rendering.env.map(({ name, value }) => `${name}=${value}`),
    ...secretVariables(rendering).map(({ env, value }) => `${env}=${value}`),
  ];
  return {
    Image: imageReference(spec),
    ...(spec.command.length > 0 && { Cmd: spec.command }),
    Env: variables,
    Labels: {
      ...labelsOf(rendering),
      ...wishesOf(rendering),
      ...startsAnewWith(rendering),
      [KEYS.ordinal]: String(ordinal),
    },
    ExposedPorts: Object.fromEntries(portsOf(spec).map((port) => [portKey(port), {}])),
    StopTimeout: STOP_TIMEOUT,
    HostConfig: hostConfig(rendering, host, ordinal),
  };
}
