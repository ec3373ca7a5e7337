import type { DockerManifest } from '../../../render/docker.ts';
import { EngineFailure, Permanent, Transient } from '../../errors.ts';
import type { DockerClient } from '../client.ts';
import { tarOf } from './tar.ts';

/**
 * Places the files of a workload in a container that has not started yet. Repeating it changes nothing. Engines create missing folders.
 *
 * @throws EngineFailure
 */
export async function placeFiles(
  client: DockerClient,
  { id, name }: { readonly id: string; readonly name: string },
  files: DockerManifest<'values'>['files'] = [],
): Promise<void> {
  if (files.length === 0) return;
  const content = tarOf(files);
  const headers = { 'content-type': 'application/x-tar' };
  const query = { path: '/' };
  try {
    // 404: the container was removed concurrently; the next reconciliation creates it.
    await client.request({ method: 'PUT', path: `/containers/${id}/archive`, query, headers, content, accept: [404] });
  } catch (error) {
    if (!(error instanceof EngineFailure && error.response)) throw error;
    const { status } = error.response;
    throw status === 400 || status === 403
      ? new Permanent('InvalidSpec', `The files of ${name} cannot be placed as configured.`, error.response)
      : new Transient('EngineError', `The files of ${name} could not be placed.`, error.response);
  }
}
