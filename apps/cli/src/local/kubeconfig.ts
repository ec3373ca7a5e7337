import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { UsageError } from '../errors.ts';

/** A cluster as a context of a kubeconfig describes it, without references to files and programs. */
export interface KubeCluster {
  readonly server: string;
  readonly ca_certificate: string | null;
  readonly namespace: string | undefined;
  readonly auth:
    | { readonly kind: 'token'; readonly token: string }
    | { readonly kind: 'client_certificate'; readonly certificate: string; readonly key: string };
}

type Members = Readonly<Record<string, unknown>>;

const textIn = (members: Members, name: string): string | undefined => {
  const value = members[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The member `inner` of the entry of a list of a kubeconfig with this name. */
function entryOf(list: unknown, name: string, inner: string): Members | undefined {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  const entry = entries.map(Object).find((each) => each.name === name);
  return entry === undefined ? undefined : Object(entry[inner]);
}

/**
 * Reads a context of a kubeconfig. Files that it names are read; programs that it names are not run.
 * @param given the file; undefined: that of `KUBECONFIG`, or `~/.kube/config`
 * @throws UsageError if it does not exist, or a fleet cannot use it
 */
export async function readKubeconfig(given: string | undefined, context: string): Promise<KubeCluster> {
  const file = given ?? process.env.KUBECONFIG?.split(path.delimiter)[0] ?? path.join(homedir(), '.kube', 'config');
  if (!existsSync(file)) throw new UsageError(`${file} does not exist. Name the file with --kubeconfig.`);
  const { parse } = await import('yaml');
  const config: Members = Object(parse(readFileSync(file, 'utf8')));
  const chosen = entryOf(config.contexts, context, 'context');
  if (!chosen) throw new UsageError(`${file} has no context ${context}.`);
  const cluster = entryOf(config.clusters, textIn(chosen, 'cluster') ?? '', 'cluster');
  const user = entryOf(config.users, textIn(chosen, 'user') ?? '', 'user');
  const server = cluster && textIn(cluster, 'server');
  if (!cluster || !user || server === undefined)
    throw new UsageError(`The context ${context} has no cluster or no user.`);
  if (cluster['insecure-skip-tls-verify'] === true) {
    throw new UsageError(`The context ${context} does not verify the server. A fleet needs its certificate authority.`);
  }
  const read = partReader(path.dirname(path.resolve(file)));
  return {
    server,
    ca_certificate: read(cluster, 'certificate-authority') ?? null,
    namespace: textIn(chosen, 'namespace'),
    auth: authOf(user, context, read),
  };
}

type ReadPart = (members: Members, name: string) => string | undefined;

/** Reads `name-data`, which is base64, or the file that `name` names. */
const partReader =
  (folder: string): ReadPart =>
  (members, name) => {
    const data = textIn(members, `${name}-data`);
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    const file = textIn(members, name);
    return file === undefined ? undefined : readFileSync(path.resolve(folder, file), 'utf8');
  };

function authOf(user: Members, context: string, read: ReadPart): KubeCluster['auth'] {
  const file = textIn(user, 'tokenFile');
  const token = textIn(user, 'token') ?? (file === undefined ? undefined : readFileSync(file, 'utf8').trim());
  if (token !== undefined) return { kind: 'token', token };
  const certificate = read(user, 'client-certificate');
  const key = read(user, 'client-key');
  if (certificate !== undefined && key !== undefined) return { kind: 'client_certificate', certificate, key };
  const program = 'exec' in user || 'auth-provider' in user ? ' It names a program, which a fleet cannot run.' : '';
  throw new UsageError(
    `The user of the context ${context} has neither a token nor a client certificate.${program} docs/clusters.md creates a token for a fleet.`,
  );
}
