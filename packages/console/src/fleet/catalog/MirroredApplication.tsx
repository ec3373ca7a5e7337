import { useQuery } from '@tanstack/react-query';
import { Rocket } from 'lucide-react';
import { isUnavailable } from '../../shared/api/problem.ts';
import { ApplicationFacts, ApplicationInputs, ApplicationParts } from '../../shared/catalog/ApplicationFacts.tsx';
import { Documentation, Tags } from '../../shared/catalog/CatalogTexts.tsx';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { AdviceNotice, adviceOfCatalog } from '../advice/Advice.tsx';
import { fleet } from '../api.ts';

/** An application that the fleet has copied from the hub. */
export default function MirroredApplication({ params }: PageProps<'/catalog/applications/:slug'>) {
  const { data: application, error, refetch } = useQuery(fleet.read('getMirroredApplication', { params }));
  if (isUnavailable({ data: application, error })) return <PageError error={error} retry={refetch} />;
  if (!application) return <Loading text={t('Loading the application…')} />;
  const { name, slug, version, description, documentation, tags, parts, inputs } = application;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Catalog'), href: '/catalog?tab=applications' }]}
        title={name}
        beside={<span className="tag">{version}</span>}
        about={description}
        actions={
          application.status === 'blocked' ? (
            <span className="text-bad strong">{t('The publisher has blocked the application.')}</span>
          ) : (
            <ButtonLink tone="primary" icon={Rocket} href={href('/deploy/applications/:slug', { slug })}>
              {t('Deploy')}
            </ButtonLink>
          )
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <AdviceNotice kind="application" advice={adviceOfCatalog(application)} />
      <div className="split">
        <div className="stack">
          {application.stale && (
            <Notice kind="warning" title={t('This is an earlier version of the application')}>
              <p>{t('The hub has sent a newer version that this fleet cannot read. Upgrade the fleet to use it.')}</p>
            </Notice>
          )}
          <ApplicationParts parts={parts} />
          <Documentation name={name} text={documentation} none={t('The application has no documentation.')} />
        </div>
        <div className="stack">
          <ApplicationFacts application={application} />
          <ApplicationInputs inputs={inputs} />
          <Tags tags={tags} hrefOf={(tag) => `/catalog?${new URLSearchParams({ tab: 'applications', tags: tag })}`} />
        </div>
      </div>
    </>
  );
}
