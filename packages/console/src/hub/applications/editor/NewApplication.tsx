import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { t } from '../../../shared/texts/texts.ts';
import { Loading } from '../../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../../shared/ui/shell/PageHeader.tsx';
import { type ApplicationBody, hub } from '../../api.ts';
import type { ReadFile } from '../application-body.ts';
import { FileWarnings } from '../FileWarnings.tsx';
import { ApplicationEditor, type Start } from './ApplicationEditor.tsx';
import { useImport } from './useImport.tsx';

/** A form that is empty, or that begins with a copy of an application or with a file. */
export default function NewApplication() {
  const [search] = useSearchParams();
  const { file, number, button, dialog } = useImport();
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Applications'), href: '/admin/applications' }]}
        title={t('New application')}
        actions={button}
      />
      {file ? (
        <div className="stack">
          <FileWarnings file={file} />
          <ApplicationEditor key={number} application={undefined} start={startOfFile(file)} />
        </div>
      ) : (
        <Begun from={search.get('from')} />
      )}
      {dialog}
    </>
  );
}

function startOfFile({ application }: ReadFile): Start {
  const { owner_org_id, status_message, replacement } = application;
  // The hub has read the status with the rule for new applications.
  const status = application.status as ApplicationBody['status'];
  return { source: application, stated: { owner_org_id, status, status_message, replacement } };
}

function Begun({ from }: { readonly from: string | null }) {
  const { data, error, refetch } = useQuery({
    ...hub.read('getManagedApplication', { params: { id: from ?? '' } }),
    enabled: from !== null,
  });
  if (from === null) return <ApplicationEditor application={undefined} />;
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the application…')} />;
  const { application } = data;
  const source = { ...application, name: `${application.name} ${t('(copy)')}`, slug: '' };
  return (
    <ApplicationEditor application={undefined} start={{ source, stated: { owner_org_id: application.owner_org_id } }} />
  );
}
