import { t } from '../texts/texts.ts';

const labels: Readonly<Record<string, string>> = { free: t('Free'), pro: t('Pro'), enterprise: t('Enterprise') };

/** The name of a tier. A later version can have others. */
export const tierLabel = (tier: string): string => labels[tier] ?? tier;
