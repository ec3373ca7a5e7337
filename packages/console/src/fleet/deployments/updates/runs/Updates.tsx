import { useQuery } from '@tanstack/react-query';
import { CircleArrowUp } from 'lucide-react';
import { Link } from 'wouter';
import { href } from '../../../../shared/routing/href.ts';
import { useFilters } from '../../../../shared/routing/search.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { formatCount } from '../../../../shared/ui/display/format.ts';
import { Status } from '../../../../shared/ui/display/Status.tsx';
import { Time } from '../../../../shared/ui/display/Time.tsx';
import { ListStates } from '../../../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../../../shared/ui/shell/PageHeader.tsx';
import { fleet } from '../../../api.ts';
import { updatesAvailable, useUpdateCount, useUpgradeCount, WITH_UPDATE } from '../UpdateMark.tsx';
import { isOpen, runLooks, sizeOf, wordsOfSelection } from './run-looks.ts';
import { UpdateAll } from './UpdateAll.tsx';

const REFRESH_MS = 3000;

/** The available updates, and those that were made together. */
export default function Updates() {
  const { page, set } = useFilters();
  const count = useUpdateCount();
  const upgrades = useUpgradeCount();
  const runs = useQuery({
    ...fleet.read('listUpdateRuns', { query: { page } }),
    refetchInterval: ({ state: { data } }) => (data?.runs.some(isOpen) ? REFRESH_MS : false),
  });
  return (
    <>
      <PageHeader
        title={t('Updates')}
        about={
          count === 0 ? (
            t('Each deployment runs the present version of its template.')
          ) : (
            <Link href={href('/deployments', undefined, WITH_UPDATE)}>{updatesAvailable(count)}</Link>
          )
        }
        actions={<UpdateAll count={count + upgrades} />}
      />
      <ListStates
        query={runs}
        pagination={runs.data?.pagination}
        count={(total) => t('{count, plural, one {# update run} other {# update runs}}', { count: total })}
        loading={t('Loading the updates…')}
        noMatch=""
        isFiltered={false}
        onClear={() => undefined}
        onPage={(next) => set({ page: next })}
        icon={CircleArrowUp}
        emptyTitle={t('No deployments were updated together yet')}
        emptyText={t(
          'An update run updates several deployments, a few at a time, and stops if an update fails. Runs are listed here for 90 days.',
        )}
      >
        <Table
          label={t('Update runs')}
          columns={[
            { label: t('Begun') },
            { label: t('State') },
            { label: t('Selection') },
            { label: t('Updated'), isEnd: true },
            { label: t('Failed'), isEnd: true },
            { label: t('By') },
          ]}
        >
          {runs.data?.runs.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <Link href={href('/updates/:id', { id: run.id })} className="cell-link">
                  <Time at={run.created_at} />
                </Link>
              </th>
              <td>
                <Status {...runLooks[run.state]} />
              </td>
              <td>
                <bdi>{wordsOfSelection(run)}</bdi>
              </td>
              <td className="end numeric">
                {t('{count} of {total}', {
                  count: formatCount(run.counts.succeeded),
                  total: formatCount(sizeOf(run.counts)),
                })}
              </td>
              <td className="end numeric">{formatCount(run.counts.failed)}</td>
              <td>
                <bdi>{run.created_by}</bdi>
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
    </>
  );
}
