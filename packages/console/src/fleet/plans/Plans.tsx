import { useQuery } from '@tanstack/react-query';
import { FileCheck } from 'lucide-react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet } from '../api.ts';
import { nameOfPlan, planLooks, wordsOfSummary } from './plan-looks.ts';

const REFRESH_MS = 5000;

/** The plans of files, which programs, agents and people have made. */
export default function Plans() {
  const { page, set } = useFilters();
  const plans = useQuery({ ...fleet.read('listPlans', { query: { page } }), refetchInterval: REFRESH_MS });
  return (
    <>
      <PageHeader
        title={t('Plans')}
        about={t('A plan states what files change. It is applied exactly as it was decided, or not at all.')}
      />
      <ListStates
        query={plans}
        pagination={plans.data?.pagination}
        count={(total) => t('{count, plural, one {# plan} other {# plans}}', { count: total })}
        loading={t('Loading the plans…')}
        noMatch=""
        isFiltered={false}
        onClear={() => undefined}
        onPage={(next) => set({ page: next })}
        icon={FileCheck}
        emptyTitle={t('There are no plans yet')}
        emptyText={t('The command svc plan create, agents and pipelines make plans of files with deployments.')}
      >
        <Table
          label={t('Plans')}
          columns={[
            { label: t('Plan') },
            { label: t('State') },
            { label: t('Changes') },
            { label: t('Begun') },
            { label: t('By') },
          ]}
        >
          {plans.data?.plans.map((plan) => (
            <tr key={plan.id}>
              <th scope="row">
                <Link href={href('/plans/:id', { id: plan.id })} className="cell-link">
                  {nameOfPlan(plan)}
                </Link>
              </th>
              <td>
                <Status {...planLooks[plan.state]} />
              </td>
              <td>{wordsOfSummary(plan)}</td>
              <td>
                <Time at={plan.created_at} />
              </td>
              <td>
                <bdi>{plan.created_by}</bdi>
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
    </>
  );
}
