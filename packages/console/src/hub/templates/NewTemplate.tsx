import { useMutation, useQuery } from '@tanstack/react-query';
import { FileInput } from 'lucide-react';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { type HubOutput, hub, type TemplateBody } from '../api.ts';
import { ImportDialog } from './ImportDialog.tsx';
import { type Start, TemplateForm } from './TemplateForm.tsx';

interface TemplateFile extends HubOutput<'readTemplateFile'> {
  /** Distinguishes the files that the page reads one after the other. */
  readonly number: number;
}

/** A form that is empty, or that begins with a copy of a template or with a file. */
export default function NewTemplate() {
  const [search] = useSearchParams();
  const [file, setFile] = useState<TemplateFile>();
  const [isImporting, setImporting] = useState(search.has('import'));
  const read = useMutation({
    ...hub.change('readTemplateFile'),
    onSuccess: (content) => {
      setFile((before) => ({ ...content, number: (before?.number ?? 0) + 1 }));
      setImporting(false);
    },
  });
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Templates'), href: '/admin/templates' }]}
        title={t('New template')}
        actions={
          <Button icon={FileInput} aria-haspopup="dialog" onClick={() => setImporting(true)}>
            {t('Import YAML')}
          </Button>
        }
      />
      <Begun from={search.get('from')} file={file} />
      {isImporting && (
        <ImportDialog
          about={t('A template as the commands import and export write it. Nothing is stored until you create it.')}
          read={read}
          onClose={() => setImporting(false)}
        />
      )}
    </>
  );
}

function Begun({ from, file }: { readonly from: string | null; readonly file: TemplateFile | undefined }) {
  const { data, error, refetch } = useQuery({
    ...hub.read('getManagedTemplate', { params: { id: from ?? '' } }),
    enabled: from !== null,
  });
  if (file) {
    const { template, warnings } = file;
    const { status_message, replacement } = template;
    // The hub has read the status with the rule for new templates.
    const status = { status: template.status as TemplateBody['status'], status_message, replacement };
    const start: Start = { source: template, owner_org_id: template.owner_org_id, status };
    return (
      <>
        {warnings.length > 0 && (
          <div className="situation">
            <Notice kind="warning" title={t('The file is read. These values need your attention:')}>
              <ul className="bullets">
                {warnings.map(({ path, message }) => (
                  <li key={path + message}>
                    <code>{path}</code> {message}
                  </li>
                ))}
              </ul>
            </Notice>
          </div>
        )}
        <TemplateForm key={file.number} template={undefined} start={start} />
      </>
    );
  }
  if (from === null) return <TemplateForm template={undefined} />;
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the template…')} />;
  const { template } = data;
  const source = { ...template, name: `${template.name} ${t('(copy)')}`, slug: '' };
  return <TemplateForm template={undefined} start={{ source, owner_org_id: template.owner_org_id }} />;
}
