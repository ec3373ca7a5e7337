import { useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';
import { History } from './History.tsx';
import { type Kind, operations } from './kinds.ts';

const words = {
  template: { crumb: { label: t('Templates'), href: '/admin/templates' }, loading: t('Loading the template…') },
  application: {
    crumb: { label: t('Applications'), href: '/admin/applications' },
    loading: t('Loading the application…'),
  },
} as const;

/** An object that does not exist. If it was deleted, its history remains. */
export function DeletedObject({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const query = { limit: 2 };
  const { data, error, refetch } = useQuery(hub.read(operations[kind].list, { params: { id }, query }));
  const newest = data?.revisions[0];
  const before = data?.revisions[1]?.revision;
  const content = useQuery({
    ...hub.read(operations[kind].get, { params: { id, revision: `${before ?? 0}` } }),
    enabled: before !== undefined,
  });
  const { crumb, loading } = words[kind];
  if (error) return <PageError error={error} retry={refetch} />;
  if (!newest || (before !== undefined && content.isPending)) return <Loading text={loading} />;
  const revision = content.data?.revision;
  const name = (revision && ('template' in revision ? revision.template : revision.application)?.name) ?? id;
  const version = newest.revision;
  return (
    <>
      <PageHeader crumbs={[crumb]} title={name} beside={<Status {...looks.off(t('Deleted'))} />} />
      <History of={{ kind, id, name, newest: version, version, isDeleted: true }} />
    </>
  );
}
