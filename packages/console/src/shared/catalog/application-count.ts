import { t } from '../texts/texts.ts';

export const countOfApplications = (count: number): string =>
  t('{count, plural, one {# application} other {# applications}}', { count });
