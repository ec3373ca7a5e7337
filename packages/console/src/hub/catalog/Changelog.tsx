import { useQuery } from '@tanstack/react-query';
import { Rss } from 'lucide-react';
import { useState } from 'react';
import { ChangelogEntries } from '../../shared/catalog/ChangelogEntries.tsx';
import { t } from '../../shared/texts/texts.ts';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';

const PAGE_SIZE = 10;

/** The changes of a template since the caller sees it. */
export function Changelog({ slug }: { readonly slug: string }) {
  const [page, setPage] = useState(1);
  const query = { page, limit: PAGE_SIZE };
  const { data, error, refetch } = useQuery(hub.read('getChangelog', { params: { slug }, query }));
  return (
    <Panel
      title={t('Changes')}
      flush
      actions={
        <a className="button small" href={hub.urlOf('getChangelogFeed', { params: { slug } })}>
          <Rss size={14} aria-hidden />
          {t('Feed')}
        </a>
      }
    >
      {error && <ErrorView error={error} retry={refetch} />}
      {data?.entries.length === 0 && <p className="body muted">{t('No changes since you see the template.')}</p>}
      {data && <ChangelogEntries label={t('Changes')} entries={data.entries} />}
      {data && <Pager pagination={data.pagination} onPage={setPage} />}
    </Panel>
  );
}
