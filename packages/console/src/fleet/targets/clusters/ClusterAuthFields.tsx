import { t } from '../../../shared/texts/texts.ts';
import { Field, TextAreaField } from '../../../shared/ui/controls/Field.tsx';

/** The fields of the credentials of a cluster. The service never returns them. */
export interface ClusterAuth {
  readonly token: string;
  readonly certificate: string;
  readonly key: string;
}

/** The credentials as the service receives them. */
export const authOf = (kind: 'token' | 'client_certificate', { token, certificate, key }: ClusterAuth) =>
  kind === 'token' ? { kind, token } : { kind, certificate, key };

export const ClusterAuthFields = ({
  kind,
  values: { token, certificate, key },
  onChange,
  errorAt,
}: {
  readonly kind: 'token' | 'client_certificate';
  readonly values: ClusterAuth;
  readonly onChange: (name: keyof ClusterAuth, value: string) => void;
  readonly errorAt: (...paths: readonly string[]) => string | undefined;
}) =>
  kind === 'token' ? (
    <Field label={t('Token')} required error={errorAt('auth.token')}>
      {(control) => (
        <input
          {...control}
          className="input mono"
          type="password"
          autoComplete="off"
          value={token}
          onChange={({ target }) => onChange('token', target.value)}
        />
      )}
    </Field>
  ) : (
    <>
      <TextAreaField
        label={t('Certificate')}
        value={certificate}
        onChange={(value) => onChange('certificate', value)}
        error={errorAt('auth.certificate')}
      />
      <TextAreaField
        label={t('Key')}
        value={key}
        onChange={(value) => onChange('key', value)}
        error={errorAt('auth.key')}
      />
    </>
  );
