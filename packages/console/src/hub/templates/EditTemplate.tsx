import { useQuery } from '@tanstack/react-query';
import { CopyPlus } from 'lucide-react';
import { useState } from 'react';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { OldValuesNotice } from '../../shared/ui/feedback/OldValues.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedTemplate } from '../api.ts';
import { visibilityLook } from '../looks.ts';
import { TemplateForm } from './TemplateForm.tsx';

export default function EditTemplate({ params }: PageProps<'/admin/templates/:id'>) {
  const { data, error, refetch } = useQuery(hub.read('getManagedTemplate', { params }));
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the template…')} />;
  return <Editor latest={data.template} />;
}

/**
 * The form keeps the version that the user began to change. A change by someone else meanwhile is a
 * conflict.
 */
function Editor({ latest }: { readonly latest: ManagedTemplate }) {
  const [template, setTemplate] = useState(latest);
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Templates'), href: '/admin/templates' }]}
        title={template.name}
        beside={<Status {...visibilityLook(!template.is_public)} />}
        about={<code>{template.slug}</code>}
        actions={
          <>
            <ButtonLink icon={CopyPlus} href={href('/admin/templates/new', undefined, { from: template.id })}>
              {t('Duplicate')}
            </ButtonLink>
            <ButtonLink href={href('/templates/:slug', { slug: template.slug })}>{t('View in the catalog')}</ButtonLink>
          </>
        }
      />
      <OldValuesNotice warnings={template.warnings} />
      <TemplateForm key={template.resource_version} template={template} onSaved={setTemplate} />
    </>
  );
}
