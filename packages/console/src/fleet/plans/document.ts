import type { fleetEndpoints } from '@svc/contract/fleet';
import { isSecretText } from '@svc/convert';
import type { CallInput } from '../../shared/api/client.ts';
import { yamlText } from '../../shared/ui/display/yaml-text.ts';
import type { PlanBody } from '../deployments/usePlan.ts';

type NewApplication = NonNullable<CallInput<(typeof fleetEndpoints)['createApplication']>['body']>;

/** What a form is about to create, as the request states it. */
export type Requested =
  | { readonly kind: 'deployment'; readonly body: PlanBody }
  | { readonly kind: 'application'; readonly body: NewApplication };

/** The names of what a request refers to by ids. */
export interface Names {
  /** Undefined: the fleet chooses the target. */
  readonly target: { readonly host: string } | { readonly cluster: string } | undefined;
  /** By the ids of existing volumes. */
  readonly volumes: Readonly<Record<string, string>>;
}

/** The document of a request, or the names of the values for which there is none. */
export type DocumentText =
  | { readonly text: string }
  /** Variables whose secrets were entered as text, which a file must not contain. */
  | { readonly secrets: readonly string[] };

/** Members with these values are left out, as in an export. */
const DEFAULTS: Readonly<Record<string, unknown>> = { replicas: 1, autoscaling: null, scaled_by: 'fleet' };

/** The text of a document whose plan creates the same as the request. */
export function documentText({ kind, body }: Requested, names: Names): DocumentText {
  const secrets = kind === 'deployment' ? secretTextsIn(body) : [];
  if (secrets.length > 0) return { secrets };
  const { name, target: _, volumes = {}, ...others } = body;
  const members = Object.entries(others).filter(([member, value]) => isStated(member, value));
  const mounts = Object.entries(volumes).map(([mount, volume]) => [mount, volumeOf(volume, names)] as const);
  return {
    text: yamlText({
      kind,
      name,
      ...(names.target && { target: names.target }),
      // Members without a value are not part of JSON.
      ...JSON.parse(JSON.stringify(Object.fromEntries(members))),
      ...(mounts.length > 0 && { volumes: Object.fromEntries(mounts) }),
    }),
  };
}

/** Whether a document has a member: one with its default, or an empty one, says nothing. */
function isStated(member: string, value: unknown): boolean {
  if (value === undefined || (Object.hasOwn(DEFAULTS, member) && DEFAULTS[member] === value)) return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

type Volume = NonNullable<NewApplication['volumes']>[string];

/** The size of a new volume, or the name of an existing one. */
const volumeOf = ({ storage_id, ...created }: Volume, { volumes }: Names) =>
  storage_id === undefined ? created : { volume: volumes[storage_id] };

/**
 * The variables with a secret as text. A template declares which of its variables are secret. Those of an image are
 * recognized by their names.
 */
function secretTextsIn({ env = {}, spec }: PlanBody): readonly string[] {
  const declared = Object.entries(env).filter(([, value]) => typeof value === 'object' && 'plain' in value);
  const texts = [
    ...(spec?.env ?? []).map((one) => [one.name, one.value] as const),
    ...(spec?.env_schema ?? []).map((one) => [one.name, one.default_value ?? ''] as const),
  ];
  const recognized = texts.filter(([name, text]) => isSecretText(name, text));
  return [...declared, ...recognized].map(([name]) => name);
}
