import { KEYS } from '../../render/labels.ts';
import { catchFailure, classifyPullFailure, EngineFailure, Permanent, Transient, unlessNotFound } from '../errors.ts';
import type { Fence, HostImage } from '../observation.ts';
import { messageOfFailure, oneLine, truncate } from '../redact.ts';
import type { DockerClient } from './client.ts';
import type { FoundContainer, ReconcileRun } from './containers.ts';
import { distribution, imageUser, inspectedImage, pulled } from './schemas.ts';

type Redact = (text: string) => string;

/**
 * Pulls the image as the generation requests it, and stores which image its containers run. Without an
 * answer of the registry, an image that is present is used.
 */
export async function pullRequestedImage(run: ReconcileRun, redact: Redact): Promise<void> {
  const { client, desired, fence } = run;
  const { pull: policy = 'missing' } = desired;
  const { image: reference } = desired.manifest;
  if (policy === 'missing' && (await keepImage(run))) return;
  const present = await findImage(client, reference);
  const isKept = present !== undefined && (policy === 'missing' || policy === 'never');
  const failure = isKept ? undefined : await catchFailure(() => pullImage(run, present));
  const mayKeep = present !== undefined && (policy === 'if_possible' || failure?.reason === 'ImagePullFailed');
  if (failure && !mayKeep) throw failure;
  const image = isKept || failure ? present : run.named;
  if (image === undefined || image.id === '') return;
  run.image = image;
  run.named = image;
  fence.recordImage?.(image, failure && { reason: failure.reason, message: messageOfFailure(failure, redact) });
}

/**
 * Keeps the image that ran before under the same reference, although its tag can name another one on the host by now, such as
 * after a check of the tag. An image that was made on the host has no digest, and its tag is followed.
 * @returns whether the host has such an image
 */
async function keepImage(run: ReconcileRun): Promise<boolean> {
  const { client, desired, fence } = run;
  const { image } = desired;
  if (!image?.digest || !(await findImage(client, image.id))) return false;
  run.image = image;
  fence.recordImage?.(image);
  return true;
}

/** Pulls the image that the reference names, and looks it up. */
async function pullImage(run: ReconcileRun, present: HostImage | undefined): Promise<void> {
  const { client, desired, fence, actions } = run;
  const { pull: policy = 'missing' } = desired;
  const { image: reference, registryAuth } = desired.manifest;
  if (policy === 'never') throw notPresent(reference);
  await reporting(fence, reference, () => pull(client, reference, registryAuth));
  run.named = await findImage(client, reference);
  const isSame = present !== undefined && run.named?.id === present.id;
  actions.push(`pulled ${reference}${isSame ? ', which has not changed' : ''}`);
}

/** A pull that is faster is not reported. */
const REPORTED_AFTER_MS = 300;

/** Runs a pull, and reports it if it takes long. */
async function reporting(fence: Fence, image: string, pulling: () => Promise<void>): Promise<void> {
  let reported: Promise<unknown> | undefined;
  const timer = setTimeout(() => {
    // Without the message, the deployment is reconciled all the same.
    reported = fence.report?.(`Pulling the image ${image}.`).catch(() => undefined);
  }, REPORTED_AFTER_MS);
  try {
    await pulling();
  } finally {
    clearTimeout(timer);
    await reported;
  }
}

const notPresent = (reference: string) =>
  new Permanent('ImageNotFound', `The image ${reference} is not on the host, and the deployment never pulls it.`);

/**
 * Ensures that the host has the image that the containers must run: the one that ran before, also if its
 * tag now names another one.
 * @returns the reference with which a container of the image is created
 */
export async function ensureImage(run: ReconcileRun): Promise<string> {
  const { client, desired, fence, actions } = run;
  const { pull: policy = 'missing' } = desired;
  const { image: reference, registryAuth } = desired.manifest;
  const named = run.named ?? (await findImage(client, reference));
  const { image: wanted = named } = run;
  if (named !== undefined && wanted?.id === named.id) {
    setImage(run, named);
    return reference;
  }
  if (wanted !== undefined && (await findImage(client, wanted.id))) return wanted.id;
  const source = wanted?.digest ? withDigest(reference, wanted.digest) : reference;
  if (policy === 'never') throw notPresent(source);
  if (named === undefined || source !== reference) {
    await reporting(fence, source, () => pull(client, source, registryAuth));
    actions.push(`pulled ${source}`);
  }
  const image = await findImage(client, source);
  if (image) setImage(run, { ...image, reference });
  return source;
}

/**
 * Refuses an image that does not state by its id a user other than root, as the kubelet does: only
 * the image knows which user a name means.
 * @throws Permanent
 */
export async function refuseRoot(client: DockerClient, reference: string): Promise<void> {
  const { body } = await client.read({ path: `/images/${reference}/json` }, imageUser);
  const user = body.Config?.User ?? '';
  if (/^[1-9]\d*(?::|$)/.test(user)) return;
  const is = user === '' ? 'runs as root' : `runs as the user ${truncate(oneLine(user))}`;
  const message = `The image ${reference} ${is}, and the security profile restricted permits only ids other than 0. Set run_as of the workload.`;
  throw new Permanent('InvalidSpec', message);
}

function setImage(run: ReconcileRun, image: HostImage): void {
  if (image.id === '' || run.image?.id === image.id) return;
  run.image = image;
  run.fence.recordImage?.(image);
}

/** A reference with a digest instead of the tag or of another digest. */
const withDigest = (reference: string, digest: string): string => `${repositoryOf(reference)}@${digest}`;

/** A reference without its tag or digest. The host before the first slash can have a port. */
const repositoryOf = (reference: string): string => reference.replace(/(?:@[^@/]+|:[^:/@]+)$/, '');

/** An image of the host by its reference or id; undefined if it is not there. */
async function findImage(client: DockerClient, reference: string): Promise<HostImage | undefined> {
  const found = await unlessNotFound(client.read({ path: `/images/${reference}/json` }, inspectedImage));
  if (!found) return undefined;
  const { Id, RepoDigests } = found.body;
  const digests = RepoDigests.map((name) => name.split('@')[1] ?? '');
  // The engine can know an image by several digests, such as that of an index and that of a manifest. Podman states none of an
  // image that no tag names any more.
  const digest = reference.split('@')[1] ?? digests[0] ?? null;
  return { reference, id: Id, digest };
}

/**
 * The image that containers of the present body run, if they all run the same one. Containers of earlier
 * versions of the fleet do not state it in their labels.
 */
export async function imageOfContainers(
  client: DockerClient,
  containers: readonly FoundContainer[],
  reference: string,
): Promise<HostImage | undefined> {
  const [id = '', ...others] = new Set(containers.map(imageIdOf));
  if (id === '' || others.length > 0) return undefined;
  const [digest] = containers.flatMap(({ details }) => details.Config.Labels[KEYS.imageDigest] ?? []);
  if (digest !== undefined) return { reference, id, digest };
  const found = await findImage(client, id);
  return found && { ...found, reference };
}

/** The id of the image of a container. */
export const imageIdOf = ({ details: { Config, Image } }: FoundContainer): string => Config.Labels[KEYS.image] ?? Image;

/** The labels of a container that state its image. They are not part of the digest of its body. */
export const imageLabels = (image: HostImage | undefined): Readonly<Record<string, string>> => ({
  ...(image && { [KEYS.image]: image.id }),
  ...(image?.digest && { [KEYS.imageDigest]: image.digest }),
});

/** The image that a tag names in its registry. */
interface LatestImage {
  readonly digest: string;
  /** Its id on the engine; null if the engine does not have it. */
  readonly id: string | null;
}

interface Tag {
  readonly reference: string;
  readonly registryAuth: string | undefined;
}

/**
 * The image that a tag names in its registry now. Docker asks the registry. Podman cannot, so it pulls the tag: its host then has
 * the image, and existing containers keep theirs.
 * @throws EngineFailure
 */
export async function latestImage(client: DockerClient, { reference, registryAuth }: Tag): Promise<LatestImage> {
  const latest =
    client.address.engine === 'docker'
      ? { digest: await digestInRegistry(client, { reference, registryAuth }), id: null }
      : await pullTag(client, { reference, registryAuth });
  if (/^sha256:[0-9a-f]{64}$/.test(latest.digest)) return latest;
  throw new Permanent('EngineError', `The engine reports no digest with SHA-256 of the image ${reference}.`);
}

async function pullTag(client: DockerClient, { reference, registryAuth }: Tag): Promise<LatestImage> {
  await pull(client, reference, registryAuth);
  const found = await findImage(client, reference);
  return { digest: found?.digest ?? '', id: found?.id ?? null };
}

async function digestInRegistry(client: DockerClient, { reference, registryAuth }: Tag): Promise<string> {
  const headers = registryAuth === undefined ? {} : { 'x-registry-auth': registryAuth };
  const request = { path: `/distribution/${reference}/json`, headers, timeoutMs: client.timing.change };
  try {
    const { body } = await client.read(request, distribution);
    return body.Descriptor.digest;
  } catch (error) {
    const response = error instanceof EngineFailure ? error.response : undefined;
    throw response === undefined ? error : pullFailure(reference, response);
  }
}

async function pull(client: DockerClient, image: string, registryAuth: string | undefined): Promise<void> {
  const { pullIdle, pull: pullTimeout } = client.timing;
  const deadline = AbortSignal.timeout(pullTimeout);
  try {
    const body = await client.open({
      method: 'POST',
      path: '/images/create',
      query: { fromImage: image },
      headers: registryAuth === undefined ? {} : { 'x-registry-auth': registryAuth },
      idleMs: pullIdle,
      signal: deadline,
    });
    const error = await lastError(body);
    if (error !== undefined) throw pullFailure(image, { status: 200, engineMessage: oneLine(error) });
  } catch (error) {
    if (deadline.aborted) throw new Transient('ImagePullFailed', `The pull of the image ${image} timed out.`);
    const response = error instanceof EngineFailure ? error.response : undefined;
    throw response === undefined || response.status === 200 ? error : pullFailure(image, response);
  }
}

const MAX_LINE = 65_536;

/**
 * Reads the response to a pull to its end, because the status does not show whether the pull
 * succeeded.
 *
 * @returns the last error
 */
async function lastError(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  let rest = '';
  let error: string | undefined;
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) rest = '';
    for (const line of lines) error = errorIn(line) ?? error;
  }
  return errorIn(rest) ?? error;
}

function errorIn(line: string): string | undefined {
  try {
    const { error, errorDetail } = pulled.parse(JSON.parse(line));
    return error ?? errorDetail?.message;
  } catch {
    return undefined; // an unknown kind of progress message
  }
}

function pullFailure(image: string, response: NonNullable<EngineFailure['response']>): EngineFailure {
  const { reason, meaning } = classifyPullFailure(response.engineMessage);
  const message = `The image ${image} ${meaning}.`;
  return new (reason === 'ImagePullFailed' ? Transient : Permanent)(reason, message, response);
}
