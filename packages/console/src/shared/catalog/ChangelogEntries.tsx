import { t } from '../texts/texts.ts';
import { formatList } from '../ui/display/format.ts';
import { Time } from '../ui/display/Time.tsx';
import { labelOfMember } from './member-labels.ts';

interface Entry {
  readonly revision: number;
  readonly version: string;
  readonly at: string;
  readonly message: string;
  readonly changed: readonly string[] | null;
}

/** The changes of a template with the words of its publisher, which are shown as plain text. */
export const ChangelogEntries = ({
  label,
  entries,
}: {
  readonly label: string;
  readonly entries: readonly Entry[];
}) => (
  <ul className="item-list" aria-label={label}>
    {entries.map(({ revision, version, at, message, changed }) => (
      <li key={revision} className="stack-small">
        <span className="row">
          <span className="tag">{version}</span>
          <span className="muted small">
            {t('Revision {revision}', { revision })} · <Time at={at} />
          </span>
        </span>
        {message && <bdi className="prewrap">{message}</bdi>}
        {changed && changed.length > 0 && (
          <span className="muted small">
            {t('Changed: {members}', { members: formatList(changed.map(labelOfMember)) })}
          </span>
        )}
      </li>
    ))}
  </ul>
);
