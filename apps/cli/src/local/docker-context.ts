import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { UsageError } from '../errors.ts';
import { readTls, type TlsCredentials } from './pem.ts';

/** A host as a context of Docker describes it. */
export interface DockerHost {
  readonly endpoint: string;
  readonly credentials: TlsCredentials | null;
}

/**
 * Reads a context of Docker from the files of its command line client. No program is run.
 * @throws UsageError if it does not exist, or a fleet cannot use it
 */
export function readDockerContext(name: string): DockerHost {
  const folder = path.join(process.env.DOCKER_CONFIG || path.join(homedir(), '.docker'), 'contexts');
  const id = createHash('sha256').update(name).digest('hex');
  const file = path.join(folder, 'meta', id, 'meta.json');
  if (!existsSync(file)) throw new UsageError(`Docker has no context ${name}. docker context ls lists them.`);
  const endpoint: unknown = Object(Object(Object(JSON.parse(readFileSync(file, 'utf8'))).Endpoints).docker).Host;
  if (typeof endpoint !== 'string' || !/^(?:tcp|unix):/.test(endpoint)) {
    throw new UsageError(
      `The context ${name} has the endpoint ${String(endpoint)}. A fleet connects to tcp:// and unix:// only; docs/remote-machine.md describes TLS.`,
    );
  }
  const tls = path.join(folder, 'tls', id, 'docker');
  return { endpoint, credentials: existsSync(tls) ? readTls(tls) : null };
}
