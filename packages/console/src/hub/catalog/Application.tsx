import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import { codeOf, isUnavailable } from '../../shared/api/problem.ts';
import { ApplicationFacts, ApplicationInputs, ApplicationParts } from '../../shared/catalog/ApplicationFacts.tsx';
import { Documentation, Tags } from '../../shared/catalog/CatalogTexts.tsx';
import { TemplateAdvice, TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { TemplateGlyph } from '../../shared/catalog/TemplateGlyph.tsx';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { SignInButton } from '../account/SignInButton.tsx';
import { hub } from '../api.ts';

/** An application with its parts, and what a person enters to deploy it. */
export default function Application({ params }: PageProps<'/applications/:slug'>) {
  const { data: application, error, refetch } = useQuery(hub.read('getApplication', { params }));
  if (codeOf(error) === 'not_found') return <Missing slug={params.slug} />;
  if (isUnavailable({ data: application, error })) return <PageError error={error} retry={refetch} />;
  if (!application) return <Loading text={t('Loading the application…')} />;
  const { name, version, description, documentation, inputs, tags } = application;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Applications'), href: '/applications' }]}
        title={name}
        before={<TemplateGlyph template={application} />}
        beside={
          <>
            <span className="tag">{version}</span>
            <TemplateStatus status={application.status} />
          </>
        }
        about={description}
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <TemplateAdvice kind="application" of={application} />
      <div className="split">
        <div className="stack">
          <ApplicationParts parts={application.parts} />
          <Documentation name={name} text={documentation} none={t('The application has no documentation.')} />
        </div>
        <div className="stack">
          <ApplicationFacts application={application} />
          <ApplicationInputs inputs={inputs} />
          <Tags tags={tags} hrefOf={(tag) => href('/applications', undefined, { tags: tag })} />
        </div>
      </div>
    </>
  );
}

const Missing = ({ slug }: { readonly slug: string }) => (
  <Empty isPage icon={Lock} title={t('Not found, or not visible to you')} action={<SignInButton />}>
    {t('There is no application {slug}, or it is in a private category that your organization cannot see.', { slug })}
  </Empty>
);
