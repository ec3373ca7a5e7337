import { useQuery } from '@tanstack/react-query';
import { Rocket } from 'lucide-react';
import { Link } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { Documentation, Tags } from '../../shared/catalog/CatalogTexts.tsx';
import { TemplateFacts, TemplateVariables } from '../../shared/catalog/TemplateFacts.tsx';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { AdviceNotice, adviceOfCatalog, blockedReasonOf } from '../advice/Advice.tsx';
import { TrustMark } from '../advice/TrustMark.tsx';
import { fleet } from '../api.ts';
import { UpdateAll } from '../deployments/updates/runs/UpdateAll.tsx';
import { updatesAvailable, useUpdateCount, WITH_UPDATE } from '../deployments/updates/UpdateMark.tsx';

export default function Template({ params }: PageProps<'/catalog/:slug'>) {
  const { data: template, error, refetch } = useQuery(fleet.read('getMirroredTemplate', { params }));
  if (isUnavailable({ data: template, error })) return <PageError error={error} retry={refetch} />;
  if (!template) return <Loading text={t('Loading the template…')} />;
  const reason = blockedReasonOf(template);
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Catalog'), href: '/catalog' }]}
        title={template.name}
        beside={
          <>
            <span className="tag">{template.version}</span>
            <TrustMark trust={template.trust} />
          </>
        }
        about={template.description}
        actions={
          reason !== undefined ? (
            <span className="text-bad strong">{reason}</span>
          ) : (
            <ButtonLink tone="primary" icon={Rocket} href={href('/deploy/:slug', { slug: template.slug })}>
              {t('Deploy')}
            </ButtonLink>
          )
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <AdviceNotice advice={adviceOfCatalog(template)} />
      <div className="split">
        <div className="stack">
          {template.stale && (
            <Notice kind="warning" title={t('This is an earlier version of the template')}>
              <p>{t('The hub has sent a newer version that this fleet cannot read. Upgrade the fleet to use it.')}</p>
            </Notice>
          )}
          <Documentation
            name={template.name}
            text={template.documentation}
            none={t('The template has no documentation.')}
          />
        </div>
        <div className="stack">
          <Deployments slug={template.slug} />
          <Panel title={t('Requirements')}>
            <TemplateFacts template={template} />
          </Panel>
          {template.env_schema.length > 0 && (
            <Panel title={t('Variables')} flush>
              <TemplateVariables template={template} />
            </Panel>
          )}
          <Tags tags={template.tags} hrefOf={(tag) => href('/catalog', undefined, { tags: tag })} />
        </div>
      </div>
    </>
  );
}

/** How many deployments run copies of a template, and how many of them can be updated. */
function Deployments({ slug }: { readonly slug: string }) {
  const { data } = useQuery(fleet.read('listDeployments', { query: { template: slug, limit: 1, view: 'summary' } }));
  const updates = useUpdateCount({ template: slug });
  const count = data?.pagination.total ?? 0;
  if (count === 0) return null;
  return (
    <Panel title={t('Deployments')} actions={<UpdateAll count={updates} filters={{ template: slug }} size="small" />}>
      <div className="stack-small">
        <Link href={href('/deployments', undefined, { template: slug })}>
          {t('{count, plural, one {# deployment} other {# deployments}}', { count })}
        </Link>
        {updates > 0 && (
          <Link href={href('/deployments', undefined, { template: slug, ...WITH_UPDATE })}>
            {updatesAvailable(updates)}
          </Link>
        )}
      </div>
    </Panel>
  );
}
