import { t } from '../../shared/texts/texts.ts';
import { TextAreaField } from '../../shared/ui/controls/Field.tsx';

/** The fields of the TLS credentials of a host, in PEM format. The service never returns them. */
export interface HostCredentials {
  readonly ca_certificate: string;
  readonly certificate: string;
  readonly key: string;
}

export const noCredentials: HostCredentials = { ca_certificate: '', certificate: '', key: '' };

/** The credentials as the service receives them. */
export const credentialsOf = ({ ca_certificate, certificate, key }: HostCredentials): HostCredentials => ({
  ca_certificate,
  certificate,
  key,
});

export const HostCredentialsFields = ({
  values: { ca_certificate, certificate, key },
  onChange,
  errorAt,
}: {
  readonly values: HostCredentials;
  readonly onChange: (name: keyof HostCredentials, value: string) => void;
  readonly errorAt: (...paths: readonly string[]) => string | undefined;
}) => (
  <>
    <p className="muted">{t('In PEM format. The fleet encrypts them, and responses never contain them.')}</p>
    <TextAreaField
      label={t('Certificate authority')}
      placeholder="-----BEGIN CERTIFICATE-----"
      value={ca_certificate}
      onChange={(value) => onChange('ca_certificate', value)}
      error={errorAt('credentials.ca_certificate')}
    />
    <TextAreaField
      label={t('Client certificate')}
      placeholder="-----BEGIN CERTIFICATE-----"
      value={certificate}
      onChange={(value) => onChange('certificate', value)}
      error={errorAt('credentials.certificate')}
    />
    <TextAreaField
      label={t('Client key')}
      placeholder="-----BEGIN PRIVATE KEY-----"
      value={key}
      onChange={(value) => onChange('key', value)}
      error={errorAt('credentials.key')}
    />
  </>
);
