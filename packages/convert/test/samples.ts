import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Converted, convertCaprover, convertCompose, convertCoolify, convertPortainer } from '../src/index.ts';

/** A file of which the class is known. */
export interface Sample {
  readonly kind: string;
  /** The class of the file, with which its name begins. */
  readonly fate: string;
  readonly file: string;
  readonly text: string;
}

const folder = path.join(import.meta.dirname, 'samples');

export const samples = ['compose', 'coolify', 'caprover', 'portainer'].flatMap((kind) =>
  readdirSync(path.join(folder, kind)).map(
    (file): Sample => ({
      kind,
      fate: file.split('-')[0] ?? '',
      file,
      text: readFileSync(path.join(folder, kind, file), 'utf8'),
    }),
  ),
);

const STACK = `services:
  blog:
    image: team/blog:1
    ports: ["80:80"]
    environment: { DB_PASSWORD: "\${DB_PASSWORD}", DB_NAME: "\${DB_NAME}" }
`;
const stacks = new Map([['team/templates/stacks/blog.yml', STACK]]);

/** Converts a sample. Of a list, it is the first template with the members of the list. */
export function convert({ kind, file, text }: Pick<Sample, 'kind' | 'file' | 'text'>): Converted {
  const source = { file, text, name: path.parse(file).name };
  if (kind === 'compose') return convertCompose(source);
  if (kind === 'coolify') return convertCoolify(source);
  if (kind === 'caprover') return convertCaprover(source);
  const { templates, report } = convertPortainer({ ...source, files: stacks });
  const [{ application, report: ofTemplate } = { application: undefined, report: [] }] = templates;
  return { application, report: [...report, ...ofTemplate] };
}
