import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** A cluster, with credentials. */
export interface TestCluster {
  /** `https://host:port` */
  readonly server: string;
  readonly ca_certificate: string | null;
  readonly auth:
    | { readonly kind: 'token'; readonly token: string }
    | { readonly kind: 'client_certificate'; readonly certificate: string; readonly key: string };
}

const text = z.string().optional();

const kubeconfig = z.object({
  'current-context': z.string(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) })),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.object({
        server: z.url({ protocol: /^https$/ }),
        'certificate-authority': text,
        'certificate-authority-data': text,
        'insecure-skip-tls-verify': z.boolean().optional(),
        'tls-server-name': text,
        'proxy-url': text,
      }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.object({
        token: text,
        tokenFile: text,
        'client-certificate': text,
        'client-certificate-data': text,
        'client-key': text,
        'client-key-data': text,
        exec: z.unknown().optional(),
        'auth-provider': z.unknown().optional(),
        username: text,
      }),
    }),
  ),
});

/**
 * Reads the cluster of the current context of a kubeconfig.
 *
 * @throws Error for settings that the fleet does not support, such as credential plug-ins or
 * connections without verification
 */
export function readKubeconfig(file: string): TestCluster {
  const config = kubeconfig.parse(parse(readFileSync(file, 'utf8')));
  const { context } = named(config.contexts, config['current-context'], 'context');
  const { cluster } = named(config.clusters, context.cluster, 'cluster');
  const { user } = named(config.users, context.user, 'user');
  rejectUnsupported(file, { ...cluster, ...user });
  const contentOf = (data: string | undefined, dataFile: string | undefined) =>
    data !== undefined
      ? Buffer.from(data, 'base64').toString('utf8')
      : dataFile && readFileSync(path.resolve(path.dirname(file), dataFile), 'utf8');
  const authority = contentOf(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const certificate = contentOf(user['client-certificate-data'], user['client-certificate']);
  const key = contentOf(user['client-key-data'], user['client-key']);
  const token = user.token ?? contentOf(undefined, user.tokenFile)?.trim();
  const shared = { server: cluster.server, ca_certificate: authority || null };
  if (certificate && key) return { ...shared, auth: { kind: 'client_certificate', certificate, key } };
  if (token) return { ...shared, auth: { kind: 'token', token } };
  throw new Error(`${file}: the user must have a token or a client certificate`);
}

const UNSUPPORTED: Readonly<Record<string, string>> = {
  exec: 'exec is not supported; use a token or a client certificate',
  'auth-provider': 'auth-provider is not supported; use a token or a client certificate',
  username: 'username and password are not supported; use a token or a client certificate',
  'insecure-skip-tls-verify': 'insecure-skip-tls-verify is not supported; set the certificate authority',
  'tls-server-name': 'tls-server-name is not supported',
  'proxy-url': 'proxy-url is not supported',
};

function rejectUnsupported(file: string, members: Readonly<Record<string, unknown>>): void {
  const [, why] = Object.entries(UNSUPPORTED).find(([member]) => members[member]) ?? [];
  if (why !== undefined) throw new Error(`${file}: ${why}`);
}

function named<T extends { readonly name: string }>(all: readonly T[], name: string, what: string): T {
  const found = all.find((each) => each.name === name);
  if (!found) throw new Error(`${what} ${name} not found`);
  return found;
}
