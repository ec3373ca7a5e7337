import { t } from '../../shared/texts/texts.ts';
import type { Token } from '../api.ts';

/** The levels of approval, as forms offer them. */
export const approvalOptions: { readonly value: Token['approval']; readonly label: string }[] = [
  { value: 'none', label: t('None') },
  { value: 'deletions', label: t('Deletions') },
  { value: 'all', label: t('All changes') },
];
