import type { TemplateControl } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { type Input, inputOf, valueOfInput } from '../../../shared/catalog/control-values.ts';
import { imageOf, referenceOf } from '../../../shared/catalog/image-reference.ts';
import type { PlanBody } from '../usePlan.ts';

/** The members that one text selects: the reference of the image. */
export const imageMembers = ['registry_url', 'image_name', 'image_tag', 'image_digest'] as const;
const isImageMember = (name: string) => imageMembers.some((member) => member === name);

/** The member whose field shows the messages of a path, and changes the member. */
export function fieldOf(path: string): string {
  const [head = ''] = path.split('.');
  return isImageMember(head) ? 'image_name' : head;
}

/** The variable by which a workload declares its health check. */
const HEALTH_CHECK = 'SVC_HEALTH_CHECK';

/** How the fleet finds out whether the program works: `rest` follows the kind and a colon. */
export interface HealthDraft {
  readonly kind: 'none' | 'http' | 'tcp' | 'exec';
  readonly rest: string;
}

/** A complete specification that a request can contain. */
export type WrittenSpec = WorkloadSpec & Required<NonNullable<PlanBody['spec']>>;

/** The input of a user for what a workload runs. */
export interface SpecDraft {
  /** The reference of the image, such as `ghcr.io/team/app:1.2`. */
  readonly image: string;
  readonly health: HealthDraft;
  /** The input for each other member, by its name. */
  readonly inputs: Readonly<Record<string, Input>>;
}

/** The controls of the members that specify what runs, without those of the image reference. */
export const specControls = (controls: readonly TemplateControl[]): readonly TemplateControl[] =>
  controls.filter(({ name, topic }) => topic !== 'catalog' && topic !== 'documentation' && !isImageMember(name));

/** The specification of a workload that sets nothing. */
export const defaultSpec = (controls: readonly TemplateControl[]): WrittenSpec =>
  // The contract declares a default for each member; fromEntries loses their names.
  Object.fromEntries(
    controls
      .filter(({ topic }) => topic !== 'catalog' && topic !== 'documentation')
      .map(({ name, default: value }) => [name, value]),
  ) as unknown as WrittenSpec;

/** The draft of a specification. The health check is shown apart from the other variables. */
export function draftOfSpec(controls: readonly TemplateControl[], spec: WorkloadSpec): SpecDraft {
  const shown = { ...spec, env: spec.env.filter(({ name }) => name !== HEALTH_CHECK) };
  const inputs = specControls(controls).map(({ name, control }) => [
    name,
    // The controls are those of the members of a specification.
    inputOf(control, shown[name as keyof WorkloadSpec]),
  ]);
  return {
    image: referenceOf(spec),
    health: healthOf(spec.env.find(({ name }) => name === HEALTH_CHECK)?.value ?? ''),
    inputs: Object.fromEntries(inputs),
  };
}

function healthOf(value: string): HealthDraft {
  const colon = value.indexOf(':');
  const kind = (['http', 'tcp', 'exec'] as const).find((one) => one === value.slice(0, colon));
  return kind ? { kind, rest: value.slice(colon + 1) } : { kind: 'none', rest: '' };
}

/**
 * The specification that a draft of `before` describes. The service validates it. An image that the
 * user has not changed keeps its members, which several divisions of one reference can have.
 */
export function specOfDraft(
  controls: readonly TemplateControl[],
  { image, health, inputs }: SpecDraft,
  before: WorkloadSpec,
): WrittenSpec {
  const members = specControls(controls).map((member) => [
    member.name,
    valueOfInput(member, inputs[member.name] ?? ''),
  ]);
  const { registry_url, image_name, image_tag, image_digest } = image === referenceOf(before) ? before : imageOf(image);
  const spec = {
    // Each control has the type of its member; fromEntries loses which.
    ...(Object.fromEntries(members) as Omit<WrittenSpec, (typeof imageMembers)[number]>),
    registry_url,
    image_name,
    image_tag,
    image_digest,
  };
  if (health.kind === 'none') return spec;
  return { ...spec, env: [...spec.env, { name: HEALTH_CHECK, value: `${health.kind}:${health.rest}` }] };
}
