import { setTimeout } from 'node:timers/promises';
import type { ContainerBody, RenderedContainer } from '../../render/docker.ts';
import { EngineFailure, isProgramMissing, NetworkFailure, Permanent, Transient } from '../errors.ts';
import type { DockerClient } from './client.ts';
import { findContainers, removeNow } from './containers.ts';
import { lacksGpus } from './plan.ts';
import { created } from './schemas.ts';

/**
 * Creates a container.
 *
 * @returns its id, also if another reconciliation created it concurrently
 * @throws Transient if a container that does not belong to the deployment has the name
 */
export async function create(
  client: DockerClient,
  deploymentId: string,
  { name, body }: RenderedContainer,
): Promise<string> {
  try {
    const { first } = endpointsFor(client, body);
    const request = { method: 'POST', path: '/containers/create', query: { name }, body: first } as const;
    return (await client.read(request, created)).body.Id;
  } catch (error) {
    if (!(error instanceof EngineFailure) || error.response === undefined) throw error;
    if (!isNameConflict(error.response)) throw creationFailure(error, name);
    const id = await findOwnByName(client, name, deploymentId);
    if (id !== undefined) return id;
    const message = `A container named ${name} exists that does not belong to this deployment. It was not changed.`;
    throw new Transient('NameConflict', message);
  }
}

/**
 * The body with which a container is created, and the other networks that it is connected to before it starts. Podman
 * connects it to all of them when it is created; Docker does so only in later versions of its API.
 */
function endpointsFor({ address }: DockerClient, body: ContainerBody) {
  const [own, ...others] = Object.entries(body.NetworkingConfig?.EndpointsConfig ?? {});
  if (!own || others.length === 0 || address.engine === 'podman') return { first: body, others: [] };
  return { first: { ...body, NetworkingConfig: { EndpointsConfig: Object.fromEntries([own]) } }, others };
}

/** Connects a container to its other networks. 403 and 409: it is connected already. 404: it was removed concurrently. */
async function connect(client: DockerClient, Container: string, { body }: RenderedContainer): Promise<void> {
  for (const [network, EndpointConfig] of endpointsFor(client, body).others) {
    const path = `/networks/${network}/connect`;
    await client.request({ method: 'POST', path, body: { Container, EndpointConfig }, accept: [403, 404, 409] });
  }
}

/** Docker responds with status 409, Podman with 500. */
const isNameConflict = ({ status, engineMessage }: NonNullable<EngineFailure['response']>): boolean =>
  status === 409 || /\bname (?:"[^"]*" )?is already in use/i.test(engineMessage);

const LOOKUP_ATTEMPTS = 20;

/**
 * Finds the container of the deployment with a name. An engine can reserve a name before it lists
 * the container and after the container was removed, so the search is repeated.
 */
async function findOwnByName(client: DockerClient, name: string, deploymentId: string): Promise<string | undefined> {
  for (let attempts = LOOKUP_ATTEMPTS; attempts > 0; attempts -= 1) {
    const { status } = await client.request({ path: `/containers/${name}/json`, accept: [404] });
    const existing = (await findContainers(client, deploymentId)).find((container) => container.name === name);
    if (existing || status !== 404) return existing?.id;
    await setTimeout(client.timing.retry);
  }
  return undefined;
}

function creationFailure({ response }: EngineFailure, name: string): EngineFailure {
  const { status = 0, engineMessage = '' } = response ?? {};
  if (status === 404 && NO_IMAGE.test(engineMessage))
    return new Transient('ImageNotFound', `The image of ${name} no longer exists on the host.`);
  if (isAddressTaken(engineMessage)) return addressTaken(name);
  const isPermanent = status === 400 || NO_COMMAND.test(engineMessage);
  return isPermanent
    ? new Permanent('InvalidSpec', `${name} cannot be created as configured.`, response)
    : new Transient('EngineError', `${name} could not be created.`, response);
}

const NO_IMAGE = /no such image|image not known/i;
const NO_COMMAND = /no command (?:or entrypoint )?(?:provided|specified)/i;

/**
 * Starts a container, and removes it if the engine did not assign the required GPUs. Idempotent.
 */
export async function start(
  client: DockerClient,
  id: string,
  { deploymentId, rendered, isOutdated = false }: Start,
): Promise<void> {
  try {
    if (!isOutdated) await connect(client, id, rendered);
    // 404: the container was removed concurrently; the next reconciliation creates it.
    await client.request({ method: 'POST', path: `/containers/${id}/start`, accept: [304, 404] });
  } catch (error) {
    if (!(error instanceof EngineFailure && error.response)) throw error;
    const failure = startFailure(error, rendered);
    if (failure.reason === 'GpuMissing' && !isOutdated) await removeById(client, id, deploymentId);
    throw failure;
  }
  if (rendered.body.HostConfig.DeviceRequests === undefined || isOutdated) return;
  const found = await containerOf(client, id, deploymentId);
  if (found && lacksGpus(rendered, found)) {
    await removeNow(client, found);
    throw gpuMissing(rendered.name);
  }
}

const containerOf = async (client: DockerClient, id: string, deploymentId: string) =>
  (await findContainers(client, deploymentId)).find((container) => container.id === id);

async function removeById(client: DockerClient, id: string, deploymentId: string): Promise<void> {
  const found = await containerOf(client, id, deploymentId);
  if (found) await removeNow(client, found);
}

/** Removes a container of the deployment by its name, if it exists. */
export async function discard(client: DockerClient, deploymentId: string, name: string): Promise<void> {
  const found = (await findContainers(client, deploymentId)).find((container) => container.name === name);
  if (found) await removeNow(client, found);
}

/**
 * Whether a container was refused because its host has no program for init processes: Podman refuses the
 * creation, and Docker the start.
 */
export const isInitMissing = (error: unknown): boolean =>
  error instanceof EngineFailure && INIT_MISSING.test(error.response?.engineMessage ?? '');

const INIT_MISSING = /container-init binary not found|"docker-init": executable file not found/;

interface Start {
  readonly deploymentId: string;
  readonly rendered: RenderedContainer;
  /** Whether the container has another configuration, so that it is not removed for missing GPUs of `rendered`. */
  readonly isOutdated?: boolean;
}

export const gpuMissing = (name: string, response?: EngineFailure['response']) =>
  new Permanent('GpuMissing', `The engine assigned no GPU to ${name}, which requires one.`, response);

const PORT_TAKEN = /address already in use|port is already allocated|ports? (?:are|is) not available/i;
const NO_ADDRESS = /cannot assign requested address/i;
const NO_GPU =
  /could not select device driver|unresolvable CDI|CDI device|nvidia-container|failed to (?:add|inject) devices/i;

function startFailure({ response }: EngineFailure, { name, body }: RenderedContainer): EngineFailure {
  const { status = 0, engineMessage = '' } = response ?? {};
  if (isAddressTaken(engineMessage)) return addressTaken(name);
  if (PORT_TAKEN.test(engineMessage)) return portConflict(engineMessage, { name, body });
  if (NO_ADDRESS.test(engineMessage)) return addressNotAvailable({ name, body });
  if (NO_GPU.test(engineMessage)) return gpuMissing(name, response);
  return status === 400 || isProgramMissing(engineMessage)
    ? new Permanent('InvalidSpec', `${name} cannot be started as configured.`, response)
    : new Transient('EngineError', `${name} could not be started.`, response);
}

/** Whether something else has the address of a container in a network, as Podman and Docker report it. */
const isAddressTaken = (engineMessage: string): boolean =>
  /requested ip address/i.test(engineMessage) || engineMessage.endsWith('Address already in use');

const addressTaken = (name: string) =>
  new NetworkFailure('address_taken', { Id: '' }, `Something else has the address of ${name} in its network.`);

/** It can succeed later, for example when the network interface of a mesh is up. */
function addressNotAvailable({ name, body }: Pick<RenderedContainer, 'name' | 'body'>): Transient {
  const ips = Object.values(body.HostConfig.PortBindings).flatMap((bindings) =>
    bindings.map(({ HostIp = '' }) => HostIp),
  );
  const addresses = [...new Set(ips)].join(', ');
  const message = `The host does not have the address to which the ports of ${name} bind (${addresses}). Correct the addresses of the host, and restart the deployment.`;
  return new Transient('AddressNotAvailable', message);
}

function portConflict(engineMessage: string, { name, body }: Pick<RenderedContainer, 'name' | 'body'>): Transient {
  const ports = Object.values(body.HostConfig.PortBindings).flatMap((bindings) =>
    bindings.map((binding) => binding.HostPort),
  );
  const mentioned = ports.filter((port) => new RegExp(`:${port}\\b`).test(engineMessage));
  const [port, ...others] = mentioned.length > 0 ? mentioned : ports;
  const which = others.length > 0 ? `One of the ports ${[port, ...others].join(', ')}` : `Port ${port}`;
  return new Transient('PortConflict', `${which} of the host, which ${name} requires, is already in use.`);
}
