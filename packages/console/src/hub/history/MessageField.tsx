import { t } from '../../shared/texts/texts.ts';
import { TextAreaField } from '../../shared/ui/controls/Field.tsx';
import type { Kind } from './kinds.ts';

/** Why a template or an application changes. */
export const MessageField = ({
  kind,
  ...field
}: {
  readonly kind: Kind;
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}) => (
  <TextAreaField
    {...field}
    label={t('Message')}
    rows={2}
    mono={false}
    hint={
      kind === 'template'
        ? t('Why it changes. Everyone who sees the template can read it.')
        : t('Why it changes. Everyone who sees the application can read it.')
    }
  />
);
