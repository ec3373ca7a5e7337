import { applicationSpecMembers, partDefaults, partMembers, templateDefaults, workloadMembers } from '@svc/contract';
import { digestOf, type Members } from './canonical.ts';
import { partsIn, withDigestedParts } from './parts.ts';

/** What people read. */
const DESCRIBED = ['name', 'slug', 'description', 'documentation', 'version'];

/**
 * The members of a template that a publisher signs: what people read, and everything that specifies what runs. All others belong to
 * the hub, which can change them.
 */
export const coveredMembers: readonly string[] = [...DESCRIBED, ...workloadMembers].sort();

/** The same of an application. The parts are signed one by one. */
export const coveredMembersOfApplications: readonly string[] = [...DESCRIBED, ...applicationSpecMembers].sort();

/** Members with the values that every reader assumes for absent ones. */
interface CoveredMembers {
  /** Those that a publisher signs and a verifier compares. */
  readonly covered: readonly string[];
  readonly defaults: Members;
}

/** The members of a kind of content. */
export interface ContentForm extends CoveredMembers {
  /** The members of the elements of `parts`, each of which has a digest of its own. Undefined: the content has no parts. */
  readonly parts?: CoveredMembers | undefined;
}

export const templateForm: ContentForm = { covered: coveredMembers, defaults: templateDefaults };

const { description, documentation, version } = templateDefaults;
export const applicationForm: ContentForm = {
  covered: coveredMembersOfApplications,
  defaults: { description, documentation, version, inputs: [], generated: [] },
  parts: { covered: partMembers, defaults: partDefaults },
};

/** Whether a member is absent, or has the value that every reader assumes for an absent one. */
export const isDefault = (name: string, value: unknown, { defaults }: CoveredMembers): boolean =>
  value === undefined || (Object.hasOwn(defaults, name) && digestOf(value) === digestOf(defaults[name]));

/** Content with its defaults written out, as a publisher signs it. Members that are not covered are left out. */
export function signedForm(content: Members, { parts, ...form }: ContentForm = templateForm): Members {
  const members = withDefaults(content, form);
  if (!parts) return members;
  const complete = partsIn(content)?.map(([, part]) => withDefaults(part, parts));
  return withDigestedParts({ ...members, parts: complete }, parts.covered);
}

const withDefaults = (content: Members, { covered, defaults }: CoveredMembers): Members =>
  Object.fromEntries(
    covered.flatMap((name) => {
      const value = content[name] ?? defaults[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
