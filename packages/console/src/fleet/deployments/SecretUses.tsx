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
      <li key={variable}>
        <code className="strong">{variable}</code> ← <code>{key === null ? secret : `${secret}.${key}`}</code>
        {is_new && <NewSecret />}
      </li>
    ))}
  </ul>
);
