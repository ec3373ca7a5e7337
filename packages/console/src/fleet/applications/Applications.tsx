import { useQuery } from '@tanstack/react-query';
import { Blocks, Combine, FileInput } from 'lucide-react';
import { Link } from 'wouter';
import { countOfApplications } from '../../shared/catalog/application-count.ts';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet } from '../api.ts';
import { phaseLook } from '../looks.ts';

/** The stream of changes does not contain applications. */
const REFRESH_MS = 3000;

/** The applications, with the state of all their parts. */
export default function Applications() {
  const { page, set } = useFilters();
  const applications = useQuery({
    ...fleet.read('listApplications', { query: { page } }),
    refetchInterval: REFRESH_MS,
  });
  const actions = (
    <>
      <ButtonLink href="/catalog?tab=applications" icon={Blocks} tone="primary">
        {t('Deploy from the catalog')}
      </ButtonLink>
      <ButtonLink href="/convert" icon={FileInput}>
        {t('Convert a Compose file')}
      </ButtonLink>
    </>
  );
  return (
    <>
      <PageHeader
        title={t('Applications')}
        about={t('Several deployments that are changed together.')}
        actions={actions}
      />
      <ListStates
        query={applications}
        pagination={applications.data?.pagination}
        count={countOfApplications}
        loading={t('Loading the applications…')}
        noMatch=""
        isFiltered={false}
        onClear={() => undefined}
        onPage={(next) => set({ page: next })}
        icon={Combine}
        emptyTitle={t('No applications yet')}
        emptyText={t(
          'An application consists of several deployments, such as a program and its database. They start in order, and return together if an update fails.',
        )}
      >
        <Table
          label={t('Applications')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('Parts'), isEnd: true },
            { label: t('Target') },
            { label: t('Created') },
          ]}
        >
          {applications.data?.applications.map((application) => (
            <tr key={application.id}>
              <th scope="row">
                <Link href={href('/applications/:id', { id: application.id })} className="cell-link">
                  {application.name}
                </Link>
              </th>
              <td>
                <Status {...phaseLook(application)} />
              </td>
              <td className="end numeric">{formatCount(application.parts.length)}</td>
              <td>
                <bdi>{application.target_name}</bdi>
              </td>
              <td>
                <Time at={application.created_at} />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
    </>
  );
}
