import { workloadMembers } from '@svc/contract/fleet';
import { imageReference } from '../../render/image.ts';
import { PLACEHOLDER } from '../../render/secrets.ts';
import { runSpecOf } from '../draft.ts';
import type { Renderable } from '../manifest.ts';

/** The maximum number of changed values in a plan, and of characters of each. */
const MAX_VALUES = 100;
const MAX_CHARACTERS = 200;

/** What a change sets to another value. null: not set. */
interface ChangedValue {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
}

type Shown = Pick<Renderable, 'draft' | 'env'>;

/** The values that differ between two states of a deployment, without values of secrets. */
export function changedValues(before: Shown, after: Shown): ChangedValue[] {
  const from = textsOf(before);
  const to = textsOf(after);
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((path) => from.get(path) !== to.get(path))
    .slice(0, MAX_VALUES)
    .map((path) => ({ path, from: shortened(from.get(path)), to: shortened(to.get(path)) }));
}

/** The values of a new deployment. */
export const newValues = (after: Shown): ChangedValue[] =>
  [...textsOf(after)].slice(0, MAX_VALUES).map(([path, text]) => ({ path, from: null, to: shortened(text) }));

const shortened = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}…`;
};

/** The members that are shown in another form: the image, and the variables with their resolved values. */
const OTHER_FORM: readonly string[] = [
  'registry_url',
  'image_name',
  'image_tag',
  'image_digest',
  'env',
  'env_schema',
  'secret_refs',
];

/** The values of a deployment as texts, by their paths. */
function textsOf({ draft, env }: Shown): Map<string, string> {
  const { workload, hostPorts, replicas, autoscaling, scaledBy, desiredState, pull } = draft;
  const members = workloadMembers
    .filter((member) => !OTHER_FORM.includes(member))
    .map((member) => [member, workload.spec[member]] as const);
  const own = Object.entries({ replicas, autoscaling, scaled_by: scaledBy, desired_state: desiredState, pull });
  return new Map([
    ['image', imageReference(runSpecOf(draft))],
    ...[...own, ...members].flatMap(([path, value]): [string, string][] =>
      isUnset(value) ? [] : [[path, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
    ...Object.entries(hostPorts).map(([key, port]): [string, string] => [`host_ports.${key}`, String(port)]),
    ...env.map(({ name, value, sealed, isSecret }): [string, string] => [
      `env.${name}`,
      sealed !== undefined || isSecret ? PLACEHOLDER : value,
    ]),
  ]);
}

const isUnset = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
