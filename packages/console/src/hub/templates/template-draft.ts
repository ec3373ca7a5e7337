import type { TemplateControl, TemplateField } from '@svc/contract';
import { differingMembers, type Input, inputOf, valueOfInput } from '../../shared/catalog/control-values.ts';
import type { ManagedTemplate, TemplateBody } from '../api.ts';

/** The input of the form. */
export type TemplateDraft = Readonly<Record<'name' | 'slug' | 'category_id', string> & Record<TemplateField, Input>>;

/** The fields of a request, which are also those of the template that it creates. */
type Fields = Required<Pick<TemplateBody, TemplateField>> & Pick<ManagedTemplate, TemplateField>;
type Body = Fields & { readonly name: string; readonly category_id: string; readonly slug?: string };

/** What a draft shows of a template. */
export type DraftSource = Pick<ManagedTemplate, 'name' | 'slug' | TemplateField> & {
  readonly category_id: string | null;
};

/** The draft of a template, or of a new one. */
export function draftOf(controls: readonly TemplateControl[], template?: DraftSource): TemplateDraft {
  const { name = '', slug = '' } = template ?? {};
  const category_id = template?.category_id ?? '';
  const inputs = controls.map((member) => {
    const value = template ? template[member.name] : member.default;
    return [member.name, inputOf(member.control, value)];
  });
  // The controls are those of all fields; fromEntries loses their names.
  return { name, slug, category_id, ...(Object.fromEntries(inputs) as Record<TemplateField, Input>) };
}

/**
 * The request for a draft. The service validates it. An empty slug is left out: the service derives
 * it from the name.
 */
export function bodyOf(controls: readonly TemplateControl[], draft: TemplateDraft): Body {
  const { name, slug, category_id } = draft;
  const fields = controls.map((member) => [member.name, valueOfInput(member, draft[member.name])]);
  // Each control has the type of its member; fromEntries loses which.
  const body = { name, category_id, ...(Object.fromEntries(fields) as Fields) };
  return slug === '' ? body : { ...body, slug };
}

/** The members of which the value differs, so that a change contains nothing else. */
export function changedMembers(
  controls: readonly TemplateControl[],
  before: TemplateDraft,
  now: TemplateDraft,
): Partial<Body> {
  return differingMembers(bodyOf(controls, before), bodyOf(controls, now));
}
