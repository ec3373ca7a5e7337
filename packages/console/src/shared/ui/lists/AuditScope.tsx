import { t } from '../../texts/texts.ts';
import { FilterSelect } from '../controls/Field.tsx';

/** What the entries of an audit log are about. Each is a prefix of their paths. */
const SIGN_INS = '/api/v1/auth/';

/** Limits an audit log to sign-ins and sign-outs. It sets the filter of the path. */
export const AuditScope = ({
  path,
  onChange,
}: {
  readonly path: string;
  readonly onChange: (path: string) => void;
}) => (
  <FilterSelect
    label={t('Kind')}
    value={path === SIGN_INS ? SIGN_INS : ''}
    onChange={onChange}
    options={[
      { value: '', label: t('All entries') },
      { value: SIGN_INS, label: t('Sign-ins and sign-outs') },
    ]}
  />
);
