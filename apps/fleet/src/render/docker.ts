import { createHash } from 'node:crypto';
import type { ContainerBody, VolumeBody } from './docker-body.ts';
import { hostConfig } from './docker-host-config.ts';
import type { Host } from './host.ts';
import { imageReference, pullCredentials, registryAuth } from './image.ts';
import { generationOf, KEYS, labelsOf, startsAnewWith, volumeLabels, wishesOf } from './labels.ts';
import { objectName, volumeName } from './names.ts';
import { portKey } from './port-key.ts';
import { portsOf, type Rendering, type Secrecy, volumesOf } from './rendering.ts';
import { secretVariables, withoutValues } from './secrets.ts';
import { demandRenderable } from './spec-problems.ts';

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
