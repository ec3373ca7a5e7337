import type { TemplateControl } from '@svc/contract';
import { type Input, inputOf, valueOfInput } from '../../../shared/catalog/control-values.ts';
import { linesOf } from '../../../shared/ui/controls/pairs.ts';
import type { ApplicationBody } from '../../api.ts';
import { catalogMembersOf, type EditedMember, partSectionsOf, valueMembers } from './application-members.ts';

type Inputs = Readonly<Record<string, Input>>;

/** The input of the form of a part. */
export interface PartDraft {
  /** Identifies the part while the form is open. */
  readonly id: number;
  readonly inputs: Inputs;
}

/** The input of the form of an application. */
export interface ApplicationDraft {
  readonly name: string;
  readonly slug: string;
  readonly category_id: string;
  /** What describes it in the catalog, its inputs and its generated values. */
  readonly inputs: Inputs;
  readonly parts: readonly PartDraft[];
}

type Values = Readonly<Record<string, unknown>>;

/** What a draft shows of an application. Members that it leaves out have their defaults. */
export interface DraftSource {
  readonly name: string;
  readonly slug: string;
  readonly category_id: string | null;
  readonly inputs?: readonly object[];
  readonly parts: readonly object[];
}

type Controls = readonly TemplateControl[];

const partMembersOf = (controls: Controls): readonly EditedMember[] =>
  partSectionsOf(controls).flatMap(({ members }) => members);

const membersOf = (controls: Controls): readonly EditedMember[] => [...catalogMembersOf(controls), ...valueMembers];

let lastId = 0;

/** The draft of a part, or of a new one. */
export function partDraftOf(controls: Controls, part: Values = {}): PartDraft {
  lastId += 1;
  return { id: lastId, inputs: inputsOf(partMembersOf(controls), part) };
}

const inputsOf = (members: readonly EditedMember[], values: Values): Inputs =>
  Object.fromEntries(
    members.map(({ name, control, default: unset }) => [name, inputOf(control, values[name] ?? unset)]),
  );

/** The draft of an application, or of a new one with one part. */
export function draftOf(controls: Controls, application?: DraftSource): ApplicationDraft {
  const { name = '', slug = '', category_id, parts = [{}], inputs = [] } = application ?? {};
  const values: Values = { ...application, inputs: inputs.map((input) => shownInput({ ...input })) };
  return {
    name,
    slug,
    category_id: category_id ?? '',
    inputs: inputsOf(membersOf(controls), values),
    parts: parts.map((part) => partDraftOf(controls, { ...part })),
  };
}

/** The request for a draft. The service validates it. An empty slug is left out: the service derives it from the name. */
export function bodyOf(controls: Controls, draft: ApplicationDraft): ApplicationBody {
  const { name, slug, category_id } = draft;
  const { inputs, generated, ...catalog } = valuesOf(membersOf(controls), draft.inputs);
  const body = {
    name,
    category_id,
    ...catalog,
    // The control of the inputs is a list of objects.
    inputs: (inputs as readonly Values[]).map(declaredInput),
    generated,
    parts: draft.parts.map((part) => withoutFalse(valuesOf(partMembersOf(controls), part.inputs))),
  };
  // Each control has the type of its member.
  return { ...body, ...(slug !== '' && { slug }) } as unknown as ApplicationBody;
}

/** A mount that is not read-only has no such member, as templates write it. */
const withoutFalse = ({ volume_mounts, ...part }: Values): Values => ({
  ...part,
  // The control of the mounts is a list of objects.
  volume_mounts: (volume_mounts as readonly Values[]).map(({ read_only, ...mount }) =>
    read_only === true ? { ...mount, read_only } : mount,
  ),
});

const valuesOf = (members: readonly EditedMember[], inputs: Inputs): Record<string, unknown> =>
  Object.fromEntries(members.map((member) => [member.name, valueOfInput(member, inputs[member.name] ?? '')]));

/** An input of an application as the form shows it: choices are lines, and the default is text. */
const shownInput = ({ choices, default: preset, ...input }: Values): Values => ({
  ...input,
  choices: Array.isArray(choices) ? choices.join('\n') : '',
  default: preset === null || preset === undefined ? '' : String(preset),
});

/** The input that the form describes. A default that is not of the type stays text, which the service refuses. */
function declaredInput({ choices, default: text, ...input }: Values): Values {
  return { ...input, choices: linesOf(String(choices)), default: defaultOf(String(input.type), String(text)) };
}

function defaultOf(type: string, text: string): string | number | boolean | null {
  if (text === '') return null;
  if (type === 'number' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** The file of a draft: members with their defaults are left out. `category` is the slug of a category. */
export function fileOf(controls: Controls, draft: ApplicationDraft, category: string): object {
  const { name, slug, category_id: _, parts, ...values } = bodyOf(controls, draft);
  const stated = withoutDefaults(membersOf(controls), { ...values });
  return {
    name,
    ...(slug !== undefined && { slug }),
    category,
    ...stated,
    parts: parts.map((part) => withoutDefaults(partMembersOf(controls), { ...part })),
  };
}

const withoutDefaults = (members: readonly EditedMember[], values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const member = members.find((one) => one.name === name);
      return JSON.stringify(value) !== JSON.stringify(member?.default);
    }),
  );
