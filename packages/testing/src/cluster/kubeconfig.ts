import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** A cluster, and who we are there. */
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
 * The cluster of the current context of a kubeconfig, which is the developer's own file.
 *
 * @throws Error for what would run a program, or would trust anybody
 */
export function readKubeconfig(file: string): TestCluster {
  const config = kubeconfig.parse(parse(readFileSync(file, 'utf8')));
  const { context } = named(config.contexts, config['current-context'], 'context');
  const { cluster } = named(config.clusters, context.cluster, 'cluster');
  const { user } = named(config.users, context.user, 'user');
  refuse(file, { ...cluster, ...user });
  const contentOf = (data: string | undefined, where: string | undefined) =>
    data !== undefined
      ? Buffer.from(data, 'base64').toString('utf8')
      : where && readFileSync(path.resolve(path.dirname(file), where), 'utf8');
  const authority = contentOf(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const certificate = contentOf(user['client-certificate-data'], user['client-certificate']);
  const key = contentOf(user['client-key-data'], user['client-key']);
  const token = user.token ?? contentOf(undefined, user.tokenFile)?.trim();
  const shared = { server: cluster.server, ca_certificate: authority || null };
  if (certificate && key) return { ...shared, auth: { kind: 'client_certificate', certificate, key } };
  if (token) return { ...shared, auth: { kind: 'token', token } };
  throw new Error(`${file}: its user has neither a token nor a client certificate`);
}

const REFUSED: Readonly<Record<string, string>> = {
  exec: 'its user is who a program says: give a token, or a client certificate, in its place',
  'auth-provider': 'its user is who a plug-in says: give a token, or a client certificate, in its place',
  username: 'its user has a password: give a token, or a client certificate, in its place',
  'insecure-skip-tls-verify': 'it would trust anybody: give the certificate of its authority',
  'tls-server-name': 'the fleet has no other name for a certificate than that of the server',
  'proxy-url': 'the fleet calls no proxy',
};

function refuse(file: string, members: Readonly<Record<string, unknown>>): void {
  const [, why] = Object.entries(REFUSED).find(([member]) => members[member]) ?? [];
  if (why !== undefined) throw new Error(`${file}: ${why}`);
}

function named<T extends { readonly name: string }>(all: readonly T[], name: string, what: string): T {
  const found = all.find((each) => each.name === name);
  if (!found) throw new Error(`there is no ${what} ${name}`);
  return found;
}
