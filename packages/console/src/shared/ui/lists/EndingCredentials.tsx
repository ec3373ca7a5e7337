import { rich, t } from '../../texts/texts.ts';
import { CheckField } from '../controls/Field.tsx';
import { Time } from '../display/Time.tsx';

interface EndingCredentialsProps {
  readonly about: string;
  readonly credentials: readonly { readonly id: string; readonly name: string; readonly last_used_at: string | null }[];
  readonly keepLabel: string;
  readonly keeps: boolean;
  readonly onKeep: (keeps: boolean) => void;
}

/** Credentials that end with a change, each with its last use, and the choice to keep them. */
export function EndingCredentials({ about, credentials, keepLabel, keeps, onKeep }: EndingCredentialsProps) {
  return (
    <>
      <p>{about}</p>
      <ul>
        {credentials.map(({ id, name, last_used_at }) => (
          <li key={id}>
            <bdi>{name}</bdi>{' '}
            <span className="muted">
              {last_used_at === null ? t('never used') : rich('last used {time}', { time: <Time at={last_used_at} /> })}
            </span>
          </li>
        ))}
      </ul>
      <CheckField checked={keeps} onChange={onKeep} label={keepLabel} />
    </>
  );
}
