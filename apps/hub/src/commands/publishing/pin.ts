import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DOCKER_HUB, parseFields, registryHost, repositoryOf } from '@svc/contract';
import { createOutbound, parseOptions } from '@svc/http';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { type Repository, resolveTag, Unresolved } from './registry.ts';
import { type Objects, readObjects } from './signed-folder.ts';

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

/** An image that a file names. */
interface NamedImage {
  readonly file: string;
  /** The path of the object that names the image: that of a template is empty. */
  readonly at: readonly (string | number)[];
  readonly registry_url: string | null;
  readonly image_name: string;
  readonly image_tag: string;
  readonly image_digest: string | null;
}

/** The images of all files, those of applications in the order of their parts. */
const imagesIn = ({ template, application }: Objects): NamedImage[] =>
  [
    ...template.map((each) => ({ ...each, at: [] })),
    ...application.flatMap(({ file, parts }) => parts.map((part, index) => ({ ...part, file, at: ['parts', index] }))),
  ].filter(({ image_name }) => image_name !== '');

interface Pinning {
  readonly lines: readonly string[];
  /** Whether each image is named by the digest that its tag has now. */
  readonly isCurrent: boolean;
}

/**
 * Writes the digest of each tag into the files of templates and applications of a folder. With `--check`, it only compares them. If a tag cannot be resolved,
 * nothing is written.
 * @returns one line per image that differs, and a summary
 */
export async function pinFolder(
  folder: string,
  given: Readonly<Record<string, string | boolean | undefined>>,
): Promise<Pinning> {
  const { check, allow, 'registry-auth': authFile } = parseOptions(options, given);
  const images = imagesIn(await readObjects(folder));
  const credentials = authFile === undefined ? {} : readCredentials(authFile);
  const outbound = createOutbound({ timeoutMs: TIMEOUT_MS, maxBytes: MAX_MANIFEST, restrictTo: new Set(allow) });
  const resolved = new Map<string, Awaited<ReturnType<typeof resolveTag>> | Unresolved>();
  try {
    for (const named of images) {
      const image = imageOf(named);
      if (resolved.has(image)) continue;
      const repository = repositoryIn(named, { credentials, isPlain: allow.includes('http') });
      const found = await resolveTag(outbound.send, repository, named.image_tag).catch((error: unknown) => {
        if (error instanceof Unresolved) return error;
        throw error;
      });
      resolved.set(image, found);
    }
  } finally {
    await outbound.close();
  }
  return apply(folder, { images, resolved, check });
}

const imageOf = (named: NamedImage): string => `${repositoryOf(named)}:${named.image_tag}`;

interface Found {
  readonly images: readonly NamedImage[];
  readonly resolved: ReadonlyMap<string, Awaited<ReturnType<typeof resolveTag>> | Unresolved>;
  readonly check: boolean;
}

function apply(folder: string, { images, resolved, check }: Found): Pinning {
  const failed = images.flatMap((named) => {
    const found = resolved.get(imageOf(named));
    return found instanceof Unresolved ? [`${named.file}: ${imageOf(named)}: ${found.message}`] : [];
  });
  const differing = images.flatMap((named) => {
    const found = resolved.get(imageOf(named));
    if (!found || found instanceof Unresolved || found.digest === named.image_digest) return [];
    return [{ named, ...found }];
  });
  const lines = differing.map(({ named, digest, isIndex }) => {
    const what = named.image_digest === null ? 'has no digest' : 'has moved';
    const warning = isIndex ? '' : ' (for one architecture only)';
    return `${named.file}: ${imageOf(named)} ${what}: ${digest}${warning}`;
  });
  const writes = !check && failed.length === 0;
  if (writes) for (const { named, digest } of differing) writeDigest(folder, named, digest);
  const summary = `${images.length} images, ${differing.length} ${writes ? 'written' : 'differ'}, ${failed.length} not resolved`;
  const isCurrent = failed.length === 0 && (writes || differing.length === 0);
  return { lines: [...failed, ...lines, summary], isCurrent };
}

/** Sets the digest of an image in its file, with its comments and its format. */
function writeDigest(folder: string, named: NamedImage, digest: string): void {
  const file = path.join(folder, named.file);
  const document = parseDocument(readFileSync(file, 'utf8'));
  document.setIn([...named.at, 'image_digest'], digest);
  writeFileSync(file, document.toString({ lineWidth: 0 }));
}

interface Access {
  /** By the host of a registry. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Whether a registry on this machine is asked without TLS. */
  readonly isPlain: boolean;
}

function repositoryIn(named: NamedImage, { credentials, isPlain }: Access): Repository {
  const host = registryHost(named);
  const name = repositoryOf(named).slice(host.length + 1);
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
