import { useQuery } from '@tanstack/react-query';
import { CopyPlus } from 'lucide-react';
import { useState } from 'react';
import { isUnavailable } from '../../../shared/api/problem.ts';
import { TemplateStatus } from '../../../shared/catalog/TemplateAdvice.tsx';
import { href } from '../../../shared/routing/href.ts';
import type { PageProps } from '../../../shared/routing/page.tsx';
import { t } from '../../../shared/texts/texts.ts';
import { ButtonLink } from '../../../shared/ui/controls/Button.tsx';
import { Status } from '../../../shared/ui/display/Status.tsx';
import { Loading } from '../../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication } from '../../api.ts';
import { visibilityLook } from '../../looks.ts';
import type { ReadFile } from '../application-body.ts';
import { FileWarnings } from '../FileWarnings.tsx';
import { ApplicationEditor, type Start } from './ApplicationEditor.tsx';
import { useImport } from './useImport.tsx';

export default function EditApplication({ params }: PageProps<'/admin/applications/:id'>) {
  const { data, error, refetch } = useQuery(hub.read('getManagedApplication', { params }));
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the application…')} />;
  return <Editor latest={data.application} />;
}

/** The form keeps the version that the person began to change. A change by someone else meanwhile is a conflict. */
function Editor({ latest }: { readonly latest: ManagedApplication }) {
  const [application, setApplication] = useState(latest);
  const { file, number, button, dialog, clear } = useImport();
  const { id, name, slug, resource_version } = application;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Applications'), href: '/admin/applications' }]}
        title={name}
        beside={
          <>
            <Status {...visibilityLook(!application.is_public)} />
            <TemplateStatus status={latest.status} />
          </>
        }
        about={<code>{slug}</code>}
        actions={
          <>
            {button}
            <ButtonLink icon={CopyPlus} href={href('/admin/applications/new', undefined, { from: id })}>
              {t('Duplicate')}
            </ButtonLink>
            <ButtonLink href={href('/applications/:slug', { slug })}>{t('View in the catalog')}</ButtonLink>
          </>
        }
      />
      <div className="stack">
        {file && <FileWarnings file={file} />}
        <ApplicationEditor
          key={`${resource_version} ${number}`}
          application={application}
          start={file && startOfFile(file, application)}
          onSaved={(saved) => {
            setApplication(saved);
            clear();
          }}
        />
      </div>
      {dialog}
    </>
  );
}

/** A file replaces the content. What it does not state stays. */
function startOfFile({ application: read }: ReadFile, { slug, category_id }: ManagedApplication): Start {
  return { source: { ...read, slug: read.slug || slug, category_id: read.category_id ?? category_id } };
}
