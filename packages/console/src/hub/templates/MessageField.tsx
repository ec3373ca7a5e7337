import { t } from '../../shared/texts/texts.ts';
import { TextAreaField } from '../../shared/ui/controls/Field.tsx';

/** Why a template changes. */
export const MessageField = (field: {
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
    hint={t('Why it changes. Everyone who sees the template can read it.')}
  />
);
