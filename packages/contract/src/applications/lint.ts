import type { FieldError } from '../shared/field-errors.ts';
import { HEALTH_CHECK } from '../template/container-options.ts';
import { textsOfPart } from './checks.ts';
import { namedPieces } from './placeholders.ts';

interface LintedPart {
  readonly name: string;
  readonly kind: string;
  readonly image_tag: string;
  readonly image_digest: string | null;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly env_schema: readonly { readonly name: string }[];
  readonly command: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly files?: readonly { readonly content: string }[];
  readonly needs: readonly { readonly part: string; readonly until: string }[];
  readonly ports: readonly { readonly publish: boolean }[];
  readonly volume_mounts: readonly { readonly name: string; readonly shared: boolean }[];
}

interface Linted {
  readonly inputs: readonly { readonly name: string }[];
  readonly generated: readonly { readonly name: string }[];
  readonly parts: readonly LintedPart[];
}

/** What is allowed in an application and is probably a mistake, with the paths of the members. */
export function lintApplication({ inputs, generated, parts }: Linted): readonly FieldError[] {
  const used = new Set(parts.flatMap(namesIn));
  return [
    ...unused('inputs', inputs, used),
    ...unused('generated', generated, used),
    ...parts.flatMap((part, index) =>
      adviceOn(part, parts).map(({ path, message }) => ({ path: `parts.${index}.${path}`, message })),
    ),
    ...(parts.some(({ ports }) => ports.some(({ publish }) => publish))
      ? []
      : [{ path: 'parts', message: 'no port is published, so that nothing reaches the application from outside' }]),
  ];
}

/** The names of the placeholders of a part. */
const namesIn = (part: LintedPart): string[] =>
  textsOfPart(part).flatMap(({ text }) =>
    (namedPieces(text) ?? []).flatMap((piece) => (typeof piece === 'string' ? [] : piece.name)),
  );

const unused = (
  list: 'inputs' | 'generated',
  declared: readonly { readonly name: string }[],
  used: ReadonlySet<string>,
): FieldError[] =>
  declared.flatMap(({ name }, index) =>
    used.has(`${list}.${name}`) ? [] : [{ path: `${list}.${index}`, message: `no part uses ${list}.${name}` }],
  );

function adviceOn(part: LintedPart, parts: readonly LintedPart[]): FieldError[] {
  const { name, kind, image_tag, image_digest, env, env_schema, volume_mounts } = part;
  const isAwaited = parts.some(({ needs }) => needs.some((need) => need.part === name && need.until === 'ready'));
  const hasCheck = [...env, ...env_schema].some((variable) => variable.name === HEALTH_CHECK);
  return [
    ...(image_tag === 'latest' && image_digest === null
      ? [{ path: 'image_tag', message: 'latest can be another program after each pull; state a version' }]
      : []),
    ...(isAwaited && !hasCheck && kind !== 'job'
      ? [{ path: 'env', message: `parts wait until ${name} is ready, and it has no ${HEALTH_CHECK}` }]
      : []),
    ...volume_mounts.flatMap((mount, index) =>
      mount.shared && !parts.some((other) => other !== part && sharesMount(other, mount.name))
        ? [{ path: `volume_mounts.${index}.shared`, message: `no other part mounts the shared volume ${mount.name}` }]
        : [],
    ),
  ];
}

const sharesMount = ({ volume_mounts }: LintedPart, name: string): boolean =>
  volume_mounts.some((mount) => mount.shared && mount.name === name);
