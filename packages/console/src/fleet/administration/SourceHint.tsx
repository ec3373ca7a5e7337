import type { ReactNode } from 'react';
import { t } from '../../shared/texts/texts.ts';

const words = { environment: t('From the environment.'), set: t('Set here.'), default: t('Default.') } as const;

/** Where the value of a setting comes from. */
export const SourceHint = ({
  source,
  children,
}: {
  readonly source: keyof typeof words;
  readonly children?: ReactNode;
}) => (
  <>
    {children} {words[source]}
  </>
);
