import controls from 'virtual:template-controls';
import { declaredText, t } from '../texts/texts.ts';

/** The labels of the members that have no default. */
export const identityLabels = { name: t('Name'), slug: t('Slug'), category_id: t('Category') };

const labels: Readonly<Record<string, string>> = {
  ...identityLabels,
  owner_org_id: t('Owner'),
  inputs: t('Values that people enter'),
  generated: t('Generated values'),
  parts: t('Parts'),
  ...Object.fromEntries(controls.map(({ name, label }) => [name, declaredText(label)])),
};

/** The label of a member of a template or an application. */
export const labelOfMember = (member: string): string => labels[member] ?? member;
