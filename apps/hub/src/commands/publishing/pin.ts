import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DOCKER_HUB, parseFields, registryHost, repositoryOf } from '@svc/contract';
import { createOutbound, parseOptions } from '@svc/http';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import type { CatalogFiles } from '../../catalog/files/catalog-files.ts';
import { type Repository, resolveTag, Unresolved } from './registry.ts';
import { readTemplates } from './signed-folder.ts';

const TIMEOUT_MS = 15_000;
const MAX_MANIFEST = 4 * 1024 * 1024;
const ALLOWANCES = ['http', 'loopback', 'private'] as const;

const options = z.strictObject({
  check: z.boolean().default(false),
  'registry-auth': z.string().optional(),
  allow: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter(Boolean))
    .pipe(z.array(z.enum(ALLOWANCES, 'must be http, loopback and private, separated by commas'))),
});

type Template = CatalogFiles['templates'][number];

interface Pinning {
  readonly lines: readonly string[];
  /** Whether each image is named by the digest that its tag has now. */
  readonly isCurrent: boolean;
}

/**
 * Writes the digest of each tag into the template files of a folder. With `--check`, it only compares them. If a tag cannot be resolved,
 * nothing is written.
 * @returns one line per template that differs, and a summary
 */
export async function pinFolder(
  folder: string,
  given: Readonly<Record<string, string | boolean | undefined>>,
): Promise<Pinning> {
  const { check, allow, 'registry-auth': authFile } = parseOptions(options, given);
  const templates = (await readTemplates(folder)).filter(({ image_name }) => image_name !== '');
  const credentials = authFile === undefined ? {} : readCredentials(authFile);
  const outbound = createOutbound({ timeoutMs: TIMEOUT_MS, maxBytes: MAX_MANIFEST, restrictTo: new Set(allow) });
  const resolved = new Map<string, Awaited<ReturnType<typeof resolveTag>> | Unresolved>();
  try {
    for (const template of templates) {
      const image = imageOf(template);
      if (resolved.has(image)) continue;
      const repository = repositoryIn(template, { credentials, isPlain: allow.includes('http') });
      const found = await resolveTag(outbound.send, repository, template.image_tag).catch((error: unknown) => {
        if (error instanceof Unresolved) return error;
        throw error;
      });
      resolved.set(image, found);
    }
  } finally {
    await outbound.close();
  }
  return apply(folder, { templates, resolved, check });
}

const imageOf = (template: Template): string => `${repositoryOf(template)}:${template.image_tag}`;

interface Found {
  readonly templates: readonly Template[];
  readonly resolved: ReadonlyMap<string, Awaited<ReturnType<typeof resolveTag>> | Unresolved>;
  readonly check: boolean;
}

function apply(folder: string, { templates, resolved, check }: Found): Pinning {
  const failed = templates.flatMap((template) => {
    const found = resolved.get(imageOf(template));
    return found instanceof Unresolved ? [`${template.file}: ${imageOf(template)}: ${found.message}`] : [];
  });
  const differing = templates.flatMap((template) => {
    const found = resolved.get(imageOf(template));
    if (!found || found instanceof Unresolved || found.digest === template.image_digest) return [];
    return [{ template, ...found }];
  });
  const lines = differing.map(({ template, digest, isIndex }) => {
    const what = template.image_digest === null ? 'has no digest' : 'has moved';
    const warning = isIndex ? '' : ' (for one architecture only)';
    return `${template.file}: ${imageOf(template)} ${what}: ${digest}${warning}`;
  });
  const writes = !check && failed.length === 0;
  if (writes) for (const { template, digest } of differing) writeDigest(path.join(folder, template.file), digest);
  const summary = `${templates.length} images, ${differing.length} ${writes ? 'written' : 'differ'}, ${failed.length} not resolved`;
  const isCurrent = failed.length === 0 && (writes || differing.length === 0);
  return { lines: [...failed, ...lines, summary], isCurrent };
}

/** Sets the digest in a file, with its comments and its format. */
function writeDigest(file: string, digest: string): void {
  const document = parseDocument(readFileSync(file, 'utf8'));
  document.set('image_digest', digest);
  writeFileSync(file, document.toString({ lineWidth: 0 }));
}

interface Access {
  /** By the host of a registry. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Whether a registry on this machine is asked without TLS. */
  readonly isPlain: boolean;
}

function repositoryIn(template: Template, { credentials, isPlain }: Access): Repository {
  const host = registryHost(template);
  const name = repositoryOf(template).slice(host.length + 1);
  const isLocal = /^(?:localhost|127\.[\d.]+)(?::\d+)?$/.test(host);
  const address = host === DOCKER_HUB ? 'registry-1.docker.io' : host;
  return {
    url: new URL(`${isPlain && isLocal ? 'http' : 'https'}://${address}`),
    name,
    credentials: Object.hasOwn(credentials, host) ? credentials[host] : undefined,
  };
}

const authFile = z.looseObject({ auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })) });

/** The credentials in a file of Docker or Podman, by the host of the registry. @throws Error */
function readCredentials(file: string): Record<string, string> {
  const parsed = parseFields(authFile, parseJson(readFileSync(file, 'utf8')));
  if (!parsed.success)
    throw new Error(`${file}: must be a file with auths, as docker login and podman login write it.`);
  return Object.fromEntries(
    Object.entries(parsed.data.auths).flatMap(([server, { auth }]) =>
      auth === undefined ? [] : [[hostOf(server), Buffer.from(auth, 'base64').toString('utf8')]],
    ),
  );
}

/** The host of a server in a file with credentials. Docker Hub has an address of its own there. */
const hostOf = (server: string): string =>
  registryHost({ registry_url: server.replace(/^https?:\/\//, '').split('/')[0] ?? '' });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
