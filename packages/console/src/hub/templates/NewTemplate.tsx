import { t } from '../../shared/texts/texts.ts';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { TemplateForm } from './TemplateForm.tsx';

export default function NewTemplate() {
  return (
    <>
      <PageHeader crumbs={[{ label: t('Templates'), href: '/admin/templates' }]} title={t('New template')} />
      <TemplateForm template={undefined} />
    </>
  );
}
