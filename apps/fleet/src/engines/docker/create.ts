import { setTimeout } from 'node:timers/promises';
import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { EngineFailure, Permanent, pullTrouble, Transient } from '../errors.ts';
import { oneLine } from '../redact.ts';
import type { DockerClient } from './client.ts';
import { containersOf, discard } from './containers.ts';
import { lacksGpus } from './plan.ts';
import { created, pulled } from './schemas.ts';

type Image = Pick<DockerManifest<'values'>, 'image' | 'registryAuth'>;

/** Sees to it that an image is on the machine. @returns what was done */
export async function provideImage(client: DockerClient, wanted: Image): Promise<string[]> {
  const { status } = await client.ask({ path: `/images/${wanted.image}/json`, accept: [404] });
  if (status !== 404) return [];
  await pull(client, wanted);
  return [`pulled ${wanted.image}`];
}

async function pull(client: DockerClient, { image, registryAuth }: Image): Promise<void> {
  const { pullIdle, pull: longest } = client.timing;
  const late = AbortSignal.timeout(longest);
  try {
    const said = await client.open({
      method: 'POST',
      path: '/images/create',
      query: { fromImage: image },
      headers: registryAuth === undefined ? {} : { 'x-registry-auth': registryAuth },
      idleMs: pullIdle,
      signal: late,
    });
    const trouble = await lastError(said);
    if (trouble !== undefined) throw pullFailure(image, { status: 200, said: oneLine(trouble) });
  } catch (error) {
    if (late.aborted) throw new Transient('ImagePullFailed', `The image ${image} took too long to be pulled.`);
    const answer = error instanceof EngineFailure ? error.answer : undefined;
    throw answer === undefined || answer.status === 200 ? error : pullFailure(image, answer);
  }
}

const MAX_LINE = 65_536;

/** Reads what a pull says to its end: whether it went well stands in no status. */
async function lastError(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  let rest = '';
  let trouble: string | undefined;
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) rest = '';
    for (const line of lines) trouble = errorIn(line) ?? trouble;
  }
  return errorIn(rest) ?? trouble;
}

function errorIn(line: string): string | undefined {
  try {
    const { error, errorDetail } = pulled.parse(JSON.parse(line));
    return error ?? errorDetail?.message;
  } catch {
    return undefined; // progress of a kind that we don't know
  }
}

function pullFailure(image: string, answer: NonNullable<EngineFailure['answer']>): EngineFailure {
  const { reason, meaning } = pullTrouble(answer.said);
  const message = `The image ${image} ${meaning}.`;
  return new (reason === 'ImagePullFailed' ? Transient : Permanent)(reason, message, answer);
}

/** Makes a container. @returns its id, be it that another pass has made it meanwhile @throws Transient for a name that is taken */
export async function create(
  client: DockerClient,
  deploymentId: string,
  { name, body }: RenderedContainer,
): Promise<string> {
  try {
    const request = { method: 'POST', path: '/containers/create', query: { name }, body } as const;
    return (await client.read(request, created)).body.Id;
  } catch (error) {
    if (!(error instanceof EngineFailure) || error.answer === undefined) throw error;
    if (!isAboutName(error.answer)) throw creationFailure(error, name);
    const id = await ownerOf(client, name, deploymentId);
    if (id !== undefined) return id;
    const message = `A container that is not this deployment's is called ${name}; it was left alone.`;
    throw new Transient('NameConflict', message);
  }
}

/** 409 where it is Docker, 500 where it is Podman. */
const isAboutName = ({ status, said }: NonNullable<EngineFailure['answer']>): boolean =>
  status === 409 || /\bname\b.* is already in use/i.test(said);

const LOOKS = 20;

/** Who has a name, if it is one of ours. An engine may know the name before it shows who has it, and after that went. */
async function ownerOf(client: DockerClient, name: string, deploymentId: string): Promise<string | undefined> {
  for (let looks = LOOKS; looks > 0; looks -= 1) {
    const { status } = await client.ask({ path: `/containers/${name}/json`, accept: [404] });
    const mine = (await containersOf(client, deploymentId)).find((container) => container.name === name);
    if (mine || status !== 404) return mine?.id;
    await setTimeout(client.timing.again);
  }
  return undefined;
}

function creationFailure({ answer }: EngineFailure, name: string): EngineFailure {
  const { status = 0, said = '' } = answer ?? {};
  if (status === 404) return new Transient('ImageNotFound', `The image of ${name} is gone again from its machine.`);
  const isForGood = status === 400 || NO_COMMAND.test(said);
  return isForGood
    ? new Permanent('InvalidSpec', `${name} can't be made as it is.`, answer)
    : new Transient('EngineError', `${name} could not be made.`, answer);
}

const NO_COMMAND = /no command (?:or entrypoint )?(?:provided|specified)/i;

/** Starts a container, and sees to it that it has its GPUs: it never runs without. Doing it twice does nothing. */
export async function start(client: DockerClient, id: string, { deploymentId, rendered }: Start): Promise<void> {
  try {
    // 404: it went meanwhile, and the next pass makes it.
    await client.ask({ method: 'POST', path: `/containers/${id}/start`, accept: [304, 404] });
  } catch (error) {
    if (!(error instanceof EngineFailure && error.answer)) throw error;
    const failure = startFailure(error, rendered);
    if (failure.reason === 'GpuMissing') await discardIt(client, id, deploymentId);
    throw failure;
  }
  if (rendered.body.HostConfig.DeviceRequests === undefined) return;
  const found = await containerOf(client, id, deploymentId);
  if (found && lacksGpus(rendered, found)) {
    await discard(client, found);
    throw gpuMissing(rendered.name);
  }
}

const containerOf = async (client: DockerClient, id: string, deploymentId: string) =>
  (await containersOf(client, deploymentId)).find((container) => container.id === id);

async function discardIt(client: DockerClient, id: string, deploymentId: string): Promise<void> {
  const found = await containerOf(client, id, deploymentId);
  if (found) await discard(client, found);
}

interface Start {
  readonly deploymentId: string;
  readonly rendered: RenderedContainer;
}

export const gpuMissing = (name: string, answer?: EngineFailure['answer']) =>
  new Permanent('GpuMissing', `${name} was given no GPU by its engine, and does not run without.`, answer);

const PORT_TAKEN = /address already in use|port is already allocated|ports? (?:are|is) not available/i;
const NO_GPU =
  /could not select device driver|unresolvable CDI|CDI device|nvidia-container|failed to (?:add|inject) devices/i;
const NO_PROGRAM =
  /executable file not found|command that was not found|exec: .*no such file or directory|exec format error|exec: .*permission denied/i;

function startFailure({ answer }: EngineFailure, { name, body }: RenderedContainer): EngineFailure {
  const { status = 0, said = '' } = answer ?? {};
  if (PORT_TAKEN.test(said)) return portConflict(said, { name, body });
  if (NO_GPU.test(said)) return gpuMissing(name, answer);
  return status === 400 || NO_PROGRAM.test(said)
    ? new Permanent('InvalidSpec', `${name} can't be started as it is.`, answer)
    : new Transient('EngineError', `${name} could not be started.`, answer);
}

function portConflict(said: string, { name, body }: Pick<RenderedContainer, 'name' | 'body'>): Transient {
  const ports = Object.values(body.HostConfig.PortBindings).flatMap((bindings) => bindings.map((it) => it.HostPort));
  const named = ports.filter((port) => new RegExp(`:${port}\\b`).test(said));
  const [port, ...others] = named.length > 0 ? named : ports;
  const which = others.length > 0 ? `One of the ports ${[port, ...others].join(', ')}` : `Port ${port}`;
  return new Transient('PortConflict', `${which} of the machine, which ${name} needs, is taken by something else.`);
}
