import type { DockerManifest } from '../../render/docker.ts';
import { EngineFailure, Permanent, Transient } from '../errors.ts';
import { pullTrouble } from '../pulls.ts';
import { oneLine } from '../words.ts';
import { pulled } from './answers.ts';
import type { Client } from './engine-client.ts';

type Image = Pick<DockerManifest<'values'>, 'image' | 'registryAuth'>;

/** Sees to it that an image is on the machine. @returns what was done */
export async function provideImage(client: Client, wanted: Image): Promise<string[]> {
  const { status } = await client.ask({ path: `/images/${wanted.image}/json`, accept: [404] });
  if (status !== 404) return [];
  await pull(client, wanted);
  return [`pulled ${wanted.image}`];
}

async function pull(client: Client, { image, registryAuth }: Image): Promise<void> {
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
