import { useQuery } from '@tanstack/react-query';
import { Lock, Rocket } from 'lucide-react';
import { useState } from 'react';
import { codeOf, isUnavailable } from '../../shared/api/problem.ts';
import { Documentation, Tags } from '../../shared/catalog/CatalogTexts.tsx';
import { TemplateAdvice, TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { TemplateFacts, TemplateVariables } from '../../shared/catalog/TemplateFacts.tsx';
import { TemplateGlyph } from '../../shared/catalog/TemplateGlyph.tsx';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { SignInButton } from '../account/SignInButton.tsx';
import { hub, iconOf, useUser } from '../api.ts';
import { RequestAccess, RequestAccessButton } from '../organization/RequestAccess.tsx';
import { Changelog } from './Changelog.tsx';
import { DeployDialog } from './DeployDialog.tsx';

export default function Template({ params }: PageProps<'/templates/:slug'>) {
  const { data: template, error, refetch } = useQuery(hub.read('getTemplate', { params }));
  const [isDeploying, setDeploying] = useState(false);
  if (codeOf(error) === 'not_found') return <Missing slug={params.slug} />;
  if (isUnavailable({ data: template, error })) return <PageError error={error} retry={refetch} />;
  if (!template) return <Loading text={t('Loading the template…')} />;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Catalog'), href: '/' }]}
        title={template.name}
        before={<TemplateGlyph template={template} src={iconOf(template)} />}
        beside={
          <>
            <span className="tag">{template.version}</span>
            <TemplateStatus status={template.status} />
          </>
        }
        about={template.description}
        actions={
          <Button tone="primary" icon={Rocket} aria-haspopup="dialog" onClick={() => setDeploying(true)}>
            {t('Deploy in your fleet')}
          </Button>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <TemplateAdvice kind="template" of={template} />
      <div className="split">
        <Documentation
          name={template.name}
          text={template.documentation}
          none={t('The template has no documentation.')}
        />
        <div className="stack">
          <Panel title={t('Requirements')}>
            <TemplateFacts template={template} />
          </Panel>
          {template.env_schema.length > 0 && (
            <Panel title={t('Variables')} flush>
              <TemplateVariables template={template} />
            </Panel>
          )}
          <Changelog slug={template.slug} />
          <Tags tags={template.tags} hrefOf={(tag) => href('/', undefined, { tags: tag })} />
        </div>
      </div>
      <RequestAccess />
      {isDeploying && <DeployDialog template={template} onClose={() => setDeploying(false)} />}
    </>
  );
}

/**
 * The response is the same for a template that does not exist and for one that the caller may not
 * see.
 */
function Missing({ slug }: { readonly slug: string }) {
  return (
    <Empty
      isPage
      icon={Lock}
      title={t('Not found, or not visible to you')}
      action={useUser() ? <RequestAccessButton template={slug} /> : <SignInButton />}
    >
      {t('There is no template {slug}, or it is in a private category that your organization cannot see.', { slug })}
    </Empty>
  );
}
