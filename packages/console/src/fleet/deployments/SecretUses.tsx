import { t } from '../../shared/texts/texts.ts';
import type { Plan } from '../api.ts';

/** The mark of a secret for which a workload asks for the first time. */
export const NewSecret = () => (
  <>
    {' '}
    <span className="tag">{t('new')}</span>{' '}
    <span className="muted">{t('The revision that was deployed before does not ask for it.')}</span>
  </>
);

/** The variables that receive values of secrets. */
export const SecretUses = ({
  secrets,
}: {
  readonly secrets: readonly (Omit<Plan['secrets'][number], 'is_new'> & { readonly is_new?: boolean })[];
}) => (
  <ul className="item-list">
    {secrets.map(({ variable, secret, key, is_new }) => (
      <li key={`${variable} ${secret} ${key}`}>
        <code className="strong">{variable}</code> ← <code>{key === null ? secret : `${secret}.${key}`}</code>
        {is_new && <NewSecret />}
      </li>
    ))}
  </ul>
);

/** What the variables receive from other deployments. */
export const Bindings = ({ bindings }: { readonly bindings: Plan['bindings'] }) => (
  <ul className="item-list">
    {bindings.map(({ variable, deployment, bound_variable, port, address, note }) => (
      <li key={`${variable} ${deployment} ${bound_variable} ${port}`}>
        <code className="strong">{variable}</code> ←{' '}
        {port === null
          ? t('{variable} of deployment {deployment}', { variable: bound_variable ?? '', deployment })
          : t('address of port {port} of deployment {deployment}', { port: String(port), deployment })}
        {address !== null && (
          <>
            {' '}
            <code>{address}</code>
          </>
        )}
        {note !== null && <span className="muted"> {note}</span>}
      </li>
    ))}
  </ul>
);
