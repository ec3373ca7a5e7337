import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { codeOf } from '../../../shared/api/problem.ts';
import { href } from '../../../shared/routing/href.ts';
import type { PageProps } from '../../../shared/routing/page.tsx';
import { t } from '../../../shared/texts/texts.ts';
import { Tabs, useTab } from '../../../shared/ui/controls/Tabs.tsx';
import { Loading } from '../../../shared/ui/feedback/states.tsx';
import { PageError } from '../../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication } from '../../api.ts';
import { DeletedObject } from '../../history/DeletedObject.tsx';
import { History } from '../../history/History.tsx';
import { StatusAndAdvisories } from '../../history/StatusAndAdvisories.tsx';
import { ManagedHeader } from '../../templates/ManagedHeader.tsx';
import type { ReadFile } from '../application-body.ts';
import { FileWarnings } from '../FileWarnings.tsx';
import { ApplicationEditor, type Start } from './ApplicationEditor.tsx';
import { useImport } from './useImport.tsx';

const tabs = [
  { id: 'content', label: t('Content') },
  { id: 'status', label: t('Status and advisories') },
  { id: 'history', label: t('History') },
] as const;

export default function EditApplication({ params }: PageProps<'/admin/applications/:id'>) {
  const { data, error, refetch } = useQuery(hub.read('getManagedApplication', { params }));
  if (codeOf(error) === 'not_found') return <DeletedObject kind="application" id={params.id} />;
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the application…')} />;
  return <Editor application={data.application} />;
}

function Editor({ application }: { readonly application: ManagedApplication }) {
  const imported = useImport();
  const tab = useTab(tabs);
  const { id, name, slug, revision, resource_version: version } = application;
  return (
    <>
      <ManagedHeader
        of={application}
        list={{ label: t('Applications'), href: '/admin/applications' }}
        copyHref={href('/admin/applications/new', undefined, { from: id })}
        catalogHref={href('/applications/:slug', { slug })}
        actions={tab === 'content' && imported.button}
      />
      <Tabs label={name} tabs={tabs} current={tab} path={href('/admin/applications/:id', { id })} />
      {tab === 'content' && <Content latest={application} imported={imported} />}
      {tab === 'status' && <StatusAndAdvisories kind="application" of={application} />}
      {tab === 'history' && (
        <History of={{ kind: 'application', id, name, newest: revision ?? 0, version, isDeleted: false }} />
      )}
      {imported.dialog}
    </>
  );
}

/** The form keeps the version that the person began to change. A change by someone else meanwhile is a conflict. */
function Content({
  latest,
  imported: { file, number, clear },
}: {
  readonly latest: ManagedApplication;
  readonly imported: ReturnType<typeof useImport>;
}) {
  const [application, setApplication] = useState(latest);
  // A file is input of the form, which is gone when another tab is shown.
  useEffect(() => clear, [clear]);
  return (
    <div className="stack">
      {file && <FileWarnings file={file} />}
      <ApplicationEditor
        key={`${application.resource_version} ${number}`}
        application={application}
        start={file && startOfFile(file, application)}
        onSaved={(saved) => {
          setApplication(saved);
          clear();
        }}
      />
    </div>
  );
}

/** A file replaces the content. What it does not state stays. */
function startOfFile({ application: read }: ReadFile, { slug, category_id }: ManagedApplication): Start {
  return { source: { ...read, slug: read.slug || slug, category_id: read.category_id ?? category_id } };
}
